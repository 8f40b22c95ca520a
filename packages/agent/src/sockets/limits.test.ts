// What a job can make the agent keep in memory through its sockets.

import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { aCounterpart, aFolder, anAgentFor } from '../../test/agent.ts'
import { openJobLog, TooManySecrets } from '../log/job-log.ts'
import { systemClock } from '../clock.ts'
import { openSession } from '../http/session.ts'
import { askPatiently, askSocket, listen } from './http.ts'
import type { SocketRoute } from './http.ts'
import { JOB_SOCKET_PATH, listenForJobs, routesOf } from './job-socket.ts'
import type { JobApi } from './job-socket.ts'
import { createLockTable, LOCK_LIMITS } from './lock-table.ts'
import { makeLockToken } from './lock-token.ts'
import { lockRoutes, readLock, startLockServer, swapLock } from './locks.ts'

/** Opens a socket for the routes, and returns its path. */
async function serve(routes: readonly SocketRoute[]): Promise<string> {
  const path = join(await aFolder(), 'socket')
  const server = await listen(path, routes)
  onTestFinished(() => void server.close())
  return path
}

const job = (env: Record<string, string> = {}): JobApi => ({
  env: () => env,
  setEnv: (changes) => void Object.assign(env, changes),
  unsetEnv: () => {},
  setWorkdir: () => null,
  hide: () => {},
  redact: (text) => text,
})

/** Every route that a job can call. */
async function allRoutes(): Promise<SocketRoute[]> {
  return [...routesOf(new Map([['token', job()]])), ...lockRoutes(await aFolder())]
}

describe('abuse case R12: a socket for jobs', () => {
  it('refuses a body above the limit of its route, on every route', async () => {
    const routes = await allRoutes()
    const path = await serve(routes)
    for (const { method, path: url, maxBodyBytes } of routes) {
      expect(maxBodyBytes).toBeLessThanOrEqual(16 * 1024 * 1024)
      const body = 'x'.repeat(maxBodyBytes + 1)
      const answer = await askSocket(path, { method, path: `${url}?key=k`, token: 'token', body })
      expect([method, url, answer.status]).toEqual([method, url, 413])
    }
  })

  it('refuses bodies that together are too large, and answers again when they are gone', async () => {
    const route = routesOf(new Map([['token', job()]])).find(({ path }) => path.endsWith('/redacted'))
    if (route === undefined) throw new Error('There is no route with a large body.')
    const path = await serve([route])
    const half = Buffer.alloc(route.maxBodyBytes - 1024, 'x')
    const head = `POST ${route.path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${route.maxBodyBytes}\r\n\r\n`
    const slow = await Promise.all([1, 2, 3].map(() => open(path)))
    const answers = slow.map((socket) => firstBytes(socket))
    await Promise.all(slow.map((socket) => send(socket, head)))
    for (const socket of slow) socket.write(half)
    expect(await Promise.race(answers)).toContain('503')
    for (const socket of slow) socket.destroy()
    const ask = () =>
      askSocket(path, { method: 'POST', path: route.path, token: 'token', body: { text: 'a' } })
    expect(await askPatiently(ask)).toEqual({ status: 200, body: { text: 'a' } })
  })

  it('closes the oldest of too many connections, and goes on answering', async () => {
    const path = await serve(await allRoutes())
    const idle: Socket[] = []
    for (let count = 0; count < 300; count += 1) idle.push(await open(path))
    onTestFinished(() => idle.forEach((socket) => socket.destroy()))
    await Promise.all(idle.slice(0, 30).map((socket) => closed(socket)))
    expect(await askSocket(path, { method: 'GET', path: '/ping' })).toEqual({ status: 200, body: {} })
  })

  it('does not let an environment or the secrets of a job grow for ever', async () => {
    const env: Record<string, string> = {}
    const sockets = await listenForJobs(await aFolder())
    onTestFinished(() => sockets.close())
    const log = openJobLog({
      api: { session: openSession('http://127.0.0.1:9', 'none'), clock: systemClock },
      jobId: 'job',
      maxChunkBytes: 1000,
      intervalSeconds: 1,
      keepsLast: true,
      redactedVariables: [],
    })
    onTestFinished(async () => void (await log.close()))
    const { path, token, open: openFor } = sockets.add()
    openFor({ ...job(env), hide: (value) => log.hide([value]) })
    const ask = (method: string, url: string, body: unknown) =>
      askSocket(path, { method, path: `${JOB_SOCKET_PATH}${url}`, token, body })
    const text = 'v'.repeat(500_000)
    const set = async (name: string) => (await ask('PATCH', '/env', { env: { [name]: text } })).status
    expect([await set('A'), await set('B'), await set('C'), await set('D'), await set('E')]).toEqual([
      200, 200, 200, 200, 422,
    ])
    const hide = async (count: number) =>
      (await ask('POST', '/redactions', { redact: `${'w'.repeat(30_000)}${count}` })).status
    const statuses: number[] = []
    while (!statuses.includes(422) && statuses.length < 1000) statuses.push(await hide(statuses.length))
    expect(statuses[0]).toBe(201)
    expect(statuses.at(-1)).toBe(422)
    expect(() => log.hide(['w'.repeat(1_000_000)])).toThrow(TooManySecrets)
  })
})

describe.each(['trusted', 'forks'] as const)('the locks of jobs: %s', (kind) => {
  const limits = LOCK_LIMITS[kind]

  it('take a limited room, which releases give back', () => {
    const table = createLockTable(limits)
    const value = 'v'.repeat(limits.valueBytes)
    const keyOf = (index: number) => String(index).padStart(limits.keyBytes, 'k')
    const swap = (index: number, from: string, to: string) =>
      table.swap(keyOf(index), { old: from, new: to }).status
    let count = 0
    while (swap(count, '', value) === 200) count += 1
    expect(swap(count, '', value)).toBe(507)
    expect(table.bytes()).toBeLessThanOrEqual(limits.bytes)
    expect(swap(0, value, '')).toBe(200)
    expect(swap(count, '', value)).toBe(200)
    for (let index = 1; index <= count; index += 1) swap(index, value, '')
    expect(table.bytes()).toBe(0)
  })

  it('make room of work that is done before they refuse', () => {
    const table = createLockTable(limits)
    const total = Math.floor(limits.bytes / 100)
    let refused = 0
    for (let index = 0; index < total; index += 1)
      if (table.swap(`setup ${index}`, { old: '', new: 'done' }).status !== 200) refused += 1
    expect(refused).toBe(0)
    expect(table.bytes()).toBeLessThanOrEqual(limits.bytes)
    expect(table.read(`setup ${total - 1}`).body).toEqual({ value: 'done' })
  })

  it.each([
    ['an empty key', '', 'v'],
    ['a long key', 'k'.repeat(limits.keyBytes + 1), 'v'],
    ['a long value', 'k', 'v'.repeat(limits.valueBytes + 1)],
    ['a value that is no text', 'k', { length: 1 }],
  ])('refuse %s', (_, key, value) => {
    const table = createLockTable(limits)
    expect(table.swap(key, { old: '', new: value }).status).toBe(422)
    expect(table.bytes()).toBe(0)
  })
})

describe('the locks of forks', () => {
  it('are not those of trusted jobs, which need a token', async () => {
    const socketsPath = await aFolder()
    const token = await makeLockToken(socketsPath)
    expect(await makeLockToken(socketsPath)).toBe(token)
    const server = await startLockServer(socketsPath)
    onTestFinished(() => server?.close())
    const [trusted, fork] = [
      { socketsPath, token },
      { socketsPath, token: null },
    ]
    await swapLock(trusted, 'deploy', { from: '', to: 'mine' })
    expect(await readLock(fork, 'deploy')).toBe('')
    expect(await swapLock(fork, 'deploy', { from: '', to: 'theirs' })).toEqual({
      value: 'theirs',
      isSwapped: true,
    })
    expect(await readLock(trusted, 'deploy')).toBe('mine')
    await expect(readLock({ socketsPath, token: 'guessed' }, 'deploy')).rejects.toThrow('the token is wrong')
  })

  it('are what a job of a fork gets, and no token', async () => {
    const server = await aCounterpart()
    await anAgentFor(server)
    const command =
      'echo "[${#MILLRACE_LOCK_TOKEN}]$(buildkite-agent lock get deploy)"; buildkite-agent lock acquire deploy'
    const trusted = server.offer({ BUILDKITE_COMMAND: command })
    expect(await server.finished(trusted)).toMatchObject({ exit_status: '0' })
    const fork = server.offer({ BUILDKITE_COMMAND: command }, { from_fork: true })
    expect(await server.finished(fork)).toMatchObject({ exit_status: '0' })
    expect(server.log(trusted)).toContain('[48]')
    expect(server.log(fork)).toContain('[0]\n')
  })
})

const open = (path: string) =>
  new Promise<Socket>((resolve, reject) => {
    const socket = connect(path, () => resolve(socket))
    socket.on('error', reject)
  })

const closed = (socket: Socket) =>
  socket.closed
    ? Promise.resolve()
    : new Promise<void>((resolve) => void socket.once('close', () => resolve()).resume())

const send = (socket: Socket, text: string) =>
  new Promise<void>((resolve) => void socket.write(text, () => resolve()))

const firstBytes = (socket: Socket) =>
  new Promise<string>((resolve) => void socket.once('data', (bytes: Buffer) => resolve(bytes.toString())))
