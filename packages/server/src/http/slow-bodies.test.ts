// Abuse case R12: connections that send their bodies slowly, or never.
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { aRunningJob } from '../../test/job-runs.ts'
import { anAgent, anAgentWorld, openStream } from '../../test/agent-client.ts'
import { eventually, useOwnApp, type TestApp } from '../../test/app.ts'
import { aMember, anAdmin, anOrganization } from '../../test/builders.ts'

const app = useOwnApp({ env: { MILLRACE_UNKNOWN_BODY_SECONDS: '1', MILLRACE_UNKNOWN_BODIES: '3' } })
/** No body is dropped for its time, also on a slow machine. */
const patient = useOwnApp({ env: { MILLRACE_UNKNOWN_BODY_SECONDS: '600', MILLRACE_UNKNOWN_BODIES: '3' } })

const strict = useOwnApp({
  env: {
    MILLRACE_BODY_PACE_SECONDS: '1',
    MILLRACE_BODY_BYTES_PER_SECOND: '1000',
    MILLRACE_UNKNOWN_BODY_SECONDS: '600',
  },
})
const small = useOwnApp({
  env: { MILLRACE_BODIES_SENDER: '3', MILLRACE_REQUESTS_USER: '4', MILLRACE_CONNECTIONS: '100' },
})

interface Slow {
  socket: Socket
  /** The response so far. */
  text(): string
  closed: Promise<unknown>
}

/** Sends the headers and the first byte of a longer body. */
async function begin(path: string, headers: readonly string[] = [], to: TestApp = app): Promise<Slow> {
  const { hostname, port } = new URL(to.address)
  const socket = connect(Number(port), hostname)
  let text = ''
  socket.on('data', (bytes) => (text += bytes.toString()))
  socket.on('error', () => {})
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  const head = [`POST ${path} HTTP/1.1`, 'Host: millrace.test', ...headers, 'Content-Length: 1000', '', '{']
  socket.write(head.join('\r\n'))
  return { socket, text: () => text, closed }
}

const form = ['Content-Type: application/x-www-form-urlencoded']

describe('abuse case R12: a body that does not come', () => {
  it.each([
    ['/sign-in', form, 408],
    ['/v1/uploads', [], 401],
    ['/v2/organizations/default/clusters', ['Authorization: Bearer nonsense'], 401],
    ['/v3/pause', [], 401],
    ['/v3/uploads', ['Content-Type: multipart/form-data; boundary=x'], 408],
    [`/deliver/${'0'.repeat(50)}`, [], 404],
    ['/nowhere', [], 408],
  ])('at %s is dropped soon when the caller is unknown', async (path, headers, status) => {
    const slow = await begin(path, headers)
    await slow.closed
    expect(slow.text()).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  })

  it('is limited in number for unknown callers: the oldest are dropped', async () => {
    const held = await Promise.all([1, 2, 3].map(() => begin('/sign-in', form, patient)))
    const later = [await begin('/sign-in', form, patient), await begin('/sign-in', form, patient)]
    const statuses = (some: readonly Slow[]) => some.map(({ text }) => text().slice(9, 12)).toSorted()
    const closed = () => [...held, ...later].filter(({ socket }) => socket.closed)
    await eventually('two are dropped', async () => statuses(held).join() === ',503,503')
    await eventually('their connections are closed', async () => closed().length >= 2)
    expect(statuses(later)).toEqual(['', ''])
    expect(closed()).toHaveLength(2)
    for (const { socket } of [...held, ...later]) socket.destroy()
  })

  it('does not keep out agents that come back at once, more than there may be unknown callers', async () => {
    const { token } = await anAgentWorld(patient)
    const agents = await Promise.all(Array.from({ length: 20 }, () => anAgent(patient, token)))
    const held = await Promise.all([1, 2, 3].map(() => begin('/sign-in', form, patient)))
    const lock = await lockTable('agents', patient)
    const opening = Promise.all(agents.map((agent) => openStream(agent)))
    await eventually(
      'more wait for the database than there may be unknown callers',
      async () => (await lock.countWaiting()) > 3,
    )
    await lock.release()
    const streams = await opening
    expect(streams.map(({ status }) => status)).toEqual(agents.map(() => 200))
    expect(held.map(({ text }) => text())).toEqual(['', '', ''])
    for (const { close } of streams) close()
    for (const { socket } of held) socket.destroy()
  })

  it('may take its time when the caller is known', async () => {
    const { run } = await aRunningJob(app)
    const path = `/v3/jobs/${run.id}/data/set`
    const known = await begin(path, [`Authorization: Token ${run.token}`, 'Content-Type: application/json'])
    // This one starts later and is dropped earlier.
    await (
      await begin('/sign-in', form)
    ).closed
    expect([known.text(), known.socket.destroyed]).toEqual(['', false])
    known.socket.write('"key": "a", "value": "b"}'.padEnd(999))
    await eventually('the answer', async () => known.text().startsWith('HTTP/1.1 200 '))
    known.socket.destroy()
  })

  it('is not missed while the database does not say who the caller is', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const lock = await lockTable('api_access_tokens', app)
    const asked = app.request('POST', `${org.path}/clusters`, { token: admin.token, body: { name: 'Late' } })
    // This one starts later and is dropped.
    await (
      await begin('/sign-in', form)
    ).closed
    await lock.release()
    expect((await asked).status).toBe(201)
  })
})

describe('abuse case R36: bodies of senders that are known', () => {
  it('are dropped when they fall behind the slowest pace', async () => {
    const { run, org, admin } = await aRunningJob(strict)
    const bearer = `Authorization: Bearer ${admin.token}`
    for (const slow of [
      await begin(`${org.path}/clusters`, [bearer], strict),
      await begin('/mcp', [bearer, 'Content-Type: application/json'], strict),
      await begin('/v1/graphql', [bearer, 'Content-Type: application/json'], strict),
      await begin(`/v3/jobs/${run.id}/data/set`, [`Authorization: Token ${run.token}`], strict),
    ]) {
      await slow.closed
      expect(slow.text()).toMatch(/^HTTP\/1.1 408 /)
      expect(slow.text()).toContain('send at least 1000 bytes a second')
    }
  })

  it('are limited in number for each sender: the next one is refused, and others are not', async () => {
    const [{ run, org, admin }, another] = [await aRunningJob(small), await aRunningJob(small)]
    const [clusters, dataOf] = [`${org.path}/clusters`, (id: string) => `/v3/jobs/${id}/data/set`]
    for (const [path, own, otherPath, other] of [
      [clusters, `Bearer ${admin.token}`, clusters, `Bearer ${(await aMember(small, org)).token}`],
      [dataOf(run.id), `Token ${run.token}`, dataOf(another.run.id), `Token ${another.run.token}`],
    ] as const) {
      const held = await Promise.all([1, 2, 3, 4].map(() => begin(path, [`Authorization: ${own}`], small)))
      const answered = () => held.filter(({ text }) => text().endsWith('}'))
      await eventually('one is refused', async () => answered().length > 0)
      expect(answered()).toHaveLength(1)
      const [refused] = answered()
      expect(refused?.text()).toMatch(/^HTTP\/1.1 429 /)
      expect(refused?.text()).toMatch(/retry-after: 2/i)
      expect(refused?.text()).toContain('You have 3 request bodies on their way')
      const admitted = await begin(otherPath, [`Authorization: ${other}`], small)
      admitted.socket.write('}'.padEnd(999))
      await eventually('an answer', async () => admitted.text() !== '')
      expect(admitted.text()).toMatch(/^HTTP\/1.1 (403|422|400) /)
      for (const { socket } of [admitted, ...held]) socket.destroy()
    }
  })
})

describe('abuse case R36: connections', () => {
  it('are held by at most so many requests of a user', async () => {
    const { org, admin } = await aRunningJob(small)
    const leaving = new AbortController()
    onTestFinished(() => leaving.abort())
    const headers = { authorization: `Bearer ${admin.token}` }
    const open = () => fetch(`${small.address}${org.path}/events`, { headers, signal: leaving.signal })
    for (let held = 0; held < 4; held++) expect((await open()).status).toBe(200)
    const refused = await open()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2'])
    expect(await refused.json()).toMatchObject({
      message: expect.stringContaining('You have 4 requests under'),
    })
  })

  it('without a request make room for new ones, the oldest first', async () => {
    const { hostname, port } = new URL(small.address)
    const idle: Socket[] = []
    onTestFinished(() => idle.forEach((socket) => socket.destroy()))
    for (let count = 0; count < 150; count++) {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      await once(socket, 'connect')
      // Every second one begins a request and never ends its headers.
      if (count % 2 === 1) socket.write('GET /healthz HTTP/1.1\r\nX-Half')
      idle.push(socket)
    }
    // On a connection of its own: one that the client has kept is idle too, and may be closed.
    const [answer] = (await once(get(`${small.address}/healthz`, { agent: false }), 'response')) as [
      IncomingMessage,
    ]
    answer.resume()
    expect(answer.statusCode).toBe(200)
    const isClosed = ({ closed, destroyed }: Socket) => closed || destroyed
    await eventually('the oldest are closed', async () => idle.filter(isClosed).length >= 50)
    expect(idle.slice(-40).filter(isClosed)).toEqual([])
  })
})

/** Nothing can be found in the table until it is released. */
async function lockTable(table: string, { database }: TestApp) {
  const client = await database.pool.connect()
  await client.query('begin')
  await client.query(`lock table ${table} in access exclusive mode`)
  return {
    async countWaiting(): Promise<number> {
      const { rows } = await client.query<{ count: number }>(`
        select count(*)::int as count from pg_locks where not granted and relation = '${table}'::regclass`)
      return rows[0]?.count ?? 0
    },
    async release(): Promise<void> {
      await client.query('rollback')
      client.release()
    },
  }
}
