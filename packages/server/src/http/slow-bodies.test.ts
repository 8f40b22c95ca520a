// Abuse case R12: connections that send their bodies slowly, or never.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { aRunningJob } from '../../test/agent-client.ts'
import { eventually, useOwnApp, type TestApp } from '../../test/app.ts'
import { anAdmin, anOrganization } from '../../test/builders.ts'

const app = useOwnApp({ env: { MILLRACE_UNKNOWN_BODY_SECONDS: '1', MILLRACE_UNKNOWN_BODIES: '3' } })
/** No body is dropped for its time, also on a slow machine. */
const patient = useOwnApp({ env: { MILLRACE_UNKNOWN_BODY_SECONDS: '600', MILLRACE_UNKNOWN_BODIES: '3' } })

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
    await eventually('two are dropped', async () => statuses(held).join() === ',503,503')
    expect(statuses(later)).toEqual(['', ''])
    expect([...held, ...later].filter(({ socket }) => socket.closed)).toHaveLength(2)
    for (const { socket } of [...held, ...later]) socket.destroy()
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
    const release = await lockTokens()
    const asked = app.request('POST', `${org.path}/clusters`, { token: admin.token, body: { name: 'Late' } })
    // This one starts later and is dropped.
    await (
      await begin('/sign-in', form)
    ).closed
    await release()
    expect((await asked).status).toBe(201)
  })
})

/** No token can be found until the returned function is called. */
async function lockTokens(): Promise<() => Promise<void>> {
  const client = await app.database.pool.connect()
  await client.query('begin')
  await client.query('lock table api_access_tokens in access exclusive mode')
  return async () => {
    await client.query('rollback')
    client.release()
  }
}
