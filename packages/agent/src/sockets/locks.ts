// Locks between jobs of one machine. One agent process is the lock server: the first that started a job. When it ends, all
// locks are released, and the next agent that starts a job becomes the lock server.

import { chmod, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { codeOf } from '../http/exchange.ts'
import { askSocket, listen } from './http.ts'
import type { SocketAnswer, SocketRequest } from './http.ts'
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

/** Returns null if another process is the lock server. */
export async function startLockServer(socketsPath: string): Promise<LockServer | null> {
  await makeOwnFolder(socketsPath)
  const path = lockSocketPath(socketsPath)
  const electionFile = `${path}.election`
  while (!(await isServing(path))) {
    // The election file ensures that only one process replaces a dead socket.
    if (await beginElection(electionFile)) return becomeLockServer(path, electionFile)
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

async function becomeLockServer(path: string, electionFile: string): Promise<LockServer | null> {
  try {
    if (await isServing(path)) return null
    await rm(path, { force: true })
    const server = await listen(path, createLocks())
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

export async function readLock(socketsPath: string, key: string): Promise<string> {
  const { body } = await askLockServer(socketsPath, { method: 'GET', path: lockUrl(key) })
  return valueIn(body)
}

/** Sets the value if it is the expected one. Returns the value it then has. */
export async function swapLock(
  socketsPath: string,
  key: string,
  change: { from: string; to: string },
): Promise<{ value: string; isSwapped: boolean }> {
  const { body } = await askLockServer(socketsPath, {
    method: 'PATCH',
    path: lockUrl(key),
    body: { old: change.from, new: change.to },
  })
  const isSwapped = typeof body === 'object' && body !== null && 'swapped' in body && body.swapped === true
  return { value: valueIn(body), isSwapped }
}

/** Retries, because the agent of this job may be about to become the lock server. */
async function askLockServer(
  socketsPath: string,
  request: Parameters<typeof askSocket>[1],
): Promise<SocketAnswer> {
  const path = lockSocketPath(socketsPath)
  const until = Date.now() + ELECTION_MS
  for (;;) {
    try {
      await requireOwnFolder(socketsPath)
      return await askSocket(path, request)
    } catch (error) {
      if (!isNobodyThere(error)) throw error
      if (Date.now() > until)
        throw new Error(`No agent of this machine keeps locks: nobody listens at ${path}.`, { cause: error })
    }
    await delay(LOOK_MS)
  }
}

const isNobodyThere = (error: unknown) => ['ENOENT', 'ECONNREFUSED'].includes(codeOf(error))

function createLocks(): (request: SocketRequest) => SocketAnswer {
  const values = new Map<string, string>()
  return ({ method, path, query, body }) => {
    const key = query.get('key') ?? ''
    if (path === '/ping') return { status: 200, body: {} }
    if (path !== LOCK_PATH || key === '') return { status: 404, body: { error: 'there is no such lock' } }
    const value = values.get(key) ?? ''
    if (method === 'GET') return { status: 200, body: { value } }
    const change = (body ?? {}) as { old?: string; new?: string }
    if (value !== change.old) return { status: 200, body: { value, swapped: false } }
    const next = change.new ?? ''
    if (next === '') values.delete(key)
    else values.set(key, next)
    return { status: 200, body: { value: next, swapped: true } }
  }
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

function valueIn(body: unknown): string {
  return typeof body === 'object' && body !== null && 'value' in body ? String(body.value) : ''
}
