// Locks between jobs of one machine. One agent process is the lock server: the first that started a job. When it ends, all
// locks are released, and the next agent that starts a job becomes the lock server.

import { chmod, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { codeOf } from '../http/exchange.ts'
import { askPatiently, askSocket, listen, refuse } from './http.ts'
import type { SocketAnswer, SocketRequest, SocketRoute } from './http.ts'
import { createLockTable, LOCK_LIMITS } from './lock-table.ts'
import type { LockTable } from './lock-table.ts'
import { findLockToken } from './lock-token.ts'
import { makeOwnFolder, requireOwnFolder } from './own-folder.ts'

const LOCK_PATH = '/api/leader/v0/lock'

export function lockSocketPath(socketsPath: string): string {
  return join(socketsPath, 'agent-leader')
}

/** An election takes far less. */
const ELECTION_MS = 10_000
const LOOK_MS = 20

export interface LockServer {
  close(): void
}

/** Returns null if another process is the lock server. `tokensPath` is the folder of the lock token. */
export async function startLockServer(
  socketsPath: string,
  tokensPath = socketsPath,
): Promise<LockServer | null> {
  await makeOwnFolder(socketsPath)
  const path = lockSocketPath(socketsPath)
  const electionFile = `${path}.election`
  while (!(await isServing(path))) {
    // The election file ensures that only one process replaces a dead socket.
    if (await beginElection(electionFile)) return becomeLockServer(path, tokensPath, electionFile)
    // A process that was killed during its election leaves the file behind.
    const begun = await stat(electionFile).catch(() => null)
    if (begun !== null && Date.now() - begun.mtimeMs > ELECTION_MS) await rm(electionFile, { force: true })
    // Wait also after a removal: another process that saw the old file may be about to remove the new one.
    await delay(LOOK_MS)
  }
  return null
}

async function beginElection(electionFile: string): Promise<boolean> {
  try {
    await writeFile(electionFile, '', { flag: 'wx' })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

async function becomeLockServer(
  path: string,
  tokensPath: string,
  electionFile: string,
): Promise<LockServer | null> {
  try {
    if (await isServing(path)) return null
    await rm(path, { force: true })
    const server = await listen(path, lockRoutes(tokensPath))
    // The folder's mode restricts access. Jobs may run as another user than the agent.
    await chmod(path, 0o666)
    server.unref()
    return { close: () => void server.close() }
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') return null
    throw error
  } finally {
    await rm(electionFile, { force: true })
  }
}

export interface LockAccess {
  socketsPath: string
  /** null for jobs of forks, which have locks of their own. */
  token: string | null
}

export async function readLock(access: LockAccess, key: string): Promise<string> {
  const { value } = await askLockServer(access, { method: 'GET', path: lockUrl(key) })
  return String(value)
}

/** Sets the value if it is the expected one. Returns the value it then has. */
export async function swapLock(
  access: LockAccess,
  key: string,
  change: { from: string; to: string },
): Promise<{ value: string; isSwapped: boolean }> {
  const { value, swapped } = await askLockServer(access, {
    method: 'PATCH',
    path: lockUrl(key),
    body: { old: change.from, new: change.to },
  })
  return { value: String(value), isSwapped: swapped === true }
}

/** Retries, because the agent of this job may be about to become the lock server. */
async function askLockServer(
  { socketsPath, token }: LockAccess,
  request: Parameters<typeof askSocket>[1],
): Promise<Record<string, unknown>> {
  const path = lockSocketPath(socketsPath)
  const until = Date.now() + ELECTION_MS
  const question = token === null ? request : { ...request, token }
  for (;;) {
    try {
      await requireOwnFolder(socketsPath)
      const { status, body } = await askPatiently(() => askSocket(path, question))
      const given = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
      if (status > 299)
        throw new Error(`The lock server refused: ${JSON.stringify(given['error'] ?? status)}.`)
      return given
    } catch (error) {
      if (!isNobodyThere(error)) throw error
      if (Date.now() > until)
        throw new Error(`No agent of this machine keeps locks: nobody listens at ${path}.`, { cause: error })
    }
    await delay(LOOK_MS)
  }
}

const isNobodyThere = (error: unknown) => ['ENOENT', 'ECONNREFUSED'].includes(codeOf(error))

const MAX_CHANGE_BYTES = 8 * 1024

export function lockRoutes(tokensPath: string): SocketRoute[] {
  const trusted = createLockTable(LOCK_LIMITS.trusted)
  const forks = createLockTable(LOCK_LIMITS.forks)
  let known = findLockToken(tokensPath)

  /** Undefined: the token is wrong. */
  function tableFor(token: string): LockTable | undefined {
    if (token === '') return forks
    // The file may be a new one, after a cleaner of temporary files.
    if (token !== known) known = findLockToken(tokensPath)
    return token === known ? trusted : undefined
  }

  const answerFrom =
    (ask: (table: LockTable, key: string, body: unknown) => SocketAnswer) =>
    ({ token, query, body }: SocketRequest): SocketAnswer => {
      const table = tableFor(token)
      return table === undefined
        ? refuse(401, 'the token is wrong')
        : ask(table, query.get('key') ?? '', body)
    }
  return [
    { method: 'GET', path: '/ping', maxBodyBytes: 0, answer: () => ({ status: 200, body: {} }) },
    { method: 'GET', path: LOCK_PATH, maxBodyBytes: 0, answer: answerFrom((table, key) => table.read(key)) },
    {
      method: 'PATCH',
      path: LOCK_PATH,
      maxBodyBytes: MAX_CHANGE_BYTES,
      answer: answerFrom((table, key, body) =>
        table.swap(key, typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}),
      ),
    },
  ]
}

async function isServing(path: string): Promise<boolean> {
  return await askSocket(path, { method: 'GET', path: '/ping' }).then(
    () => true,
    () => false,
  )
}

function lockUrl(key: string): string {
  return `${LOCK_PATH}?key=${encodeURIComponent(key)}`
}
