// Locks between jobs of one machine. One agent process keeps them, whichever was first; when it ends they are gone,
// and the next to start a job takes over.

import { chmod, rm, stat, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { codeOf } from '../http/exchange.ts'
import { askSocket, listen } from './http.ts'
import type { SocketAnswer, SocketRequest } from './http.ts'
import { makeOwnFolder, requireOwnFolder } from './own-folder.ts'

export const LOCK_PATH = '/api/leader/v0/lock'

export function lockSocketPath(socketsPath: string): string {
  return join(socketsPath, 'agent-leader')
}

/** Far longer than it takes to become the keeper. */
const TURN_MS = 10_000
const LOOK_MS = 20

export interface LockKeeper {
  close(): void
}

/** Null when another process keeps the locks. When it returns, somebody does. */
export async function keepLocks(socketsPath: string): Promise<LockKeeper | null> {
  await makeOwnFolder(socketsPath)
  const path = lockSocketPath(socketsPath)
  const turn = `${path}.turn`
  while (!(await isKept(path))) {
    // Only one may find the socket dead and replace it.
    if (await beginTurn(turn)) return takeTurn(path, turn)
    // Whoever was killed in its turn must not hold it for good.
    const taken = await stat(turn).catch(() => null)
    if (taken !== null && Date.now() - taken.mtimeMs > TURN_MS) await rm(turn, { force: true })
    // Also after that: who begins at once would have its turn removed by another that has just seen the old one.
    await delay(LOOK_MS)
  }
  return null
}

async function beginTurn(turn: string): Promise<boolean> {
  try {
    await writeFile(turn, '', { flag: 'wx' })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

async function takeTurn(path: string, turn: string): Promise<LockKeeper | null> {
  try {
    if (await isKept(path)) return null
    await rm(path, { force: true })
    const server = await listen(path, createLocks())
    // The folder says who may come here; jobs may be of another user than the agent.
    await chmod(path, 0o666)
    server.unref()
    return keeper(server)
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') return null
    throw error
  } finally {
    await rm(turn, { force: true })
  }
}

export async function readLock(socketsPath: string, key: string): Promise<string> {
  const { body } = await askKeeper(socketsPath, { method: 'GET', path: lockUrl(key) })
  return valueIn(body)
}

/** Sets the value if it is the expected one. Returns the value it then has. */
export async function swapLock(
  socketsPath: string,
  key: string,
  change: { from: string; to: string },
): Promise<{ value: string; isSwapped: boolean }> {
  const { body } = await askKeeper(socketsPath, {
    method: 'PATCH',
    path: lockUrl(key),
    body: { old: change.from, new: change.to },
  })
  const isSwapped = typeof body === 'object' && body !== null && 'swapped' in body && body.swapped === true
  return { value: valueIn(body), isSwapped }
}

/** The agent of this job, which offers to keep them as the job begins, may be about to. */
async function askKeeper(
  socketsPath: string,
  request: Parameters<typeof askSocket>[1],
): Promise<SocketAnswer> {
  const path = lockSocketPath(socketsPath)
  const until = Date.now() + TURN_MS
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

async function isKept(path: string): Promise<boolean> {
  return await askSocket(path, { method: 'GET', path: '/ping' }).then(
    () => true,
    () => false,
  )
}

function keeper(server: Server): LockKeeper {
  return { close: () => void server.close() }
}

function lockUrl(key: string): string {
  return `${LOCK_PATH}?key=${encodeURIComponent(key)}`
}

function valueIn(body: unknown): string {
  return typeof body === 'object' && body !== null && 'value' in body ? String(body.value) : ''
}
