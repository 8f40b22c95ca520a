import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { baseUrl, eventually, startApp, useApp, type TestApp } from '../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aToken,
  tokenId,
  type TestOrganization,
  type TestUser,
} from '../../test/builders.ts'
import { aSession, type SessionHeaders } from '../../test/sessions.ts'
import { aWorld, urlIn, type World } from '../../test/world.ts'
import { slices } from '../app.ts'
import { flushTokenCaches } from '../auth/access-watch.ts'
import { endSession } from '../auth/sessions.ts'
import { revokeAccessToken } from '../resources/people/access-token/revoke.ts'

const app = useApp({ env: { MILLRACE_TRUSTED_PROXIES: '127.0.0.1' } })
let second: TestApp
let org: TestOrganization
let admin: TestUser
beforeAll(async () => {
  second = await startApp({}, app.database)
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
})
afterAll(async () => second.close())

type Headers = Record<string, string>
const operator = { kind: 'operator', command: 'test' } as const

const statusOn = async (server: TestApp, headers: Headers, path = '/v2/user') =>
  (await server.request('GET', path, { headers })).status

const valueOf = ({ Cookie }: SessionHeaders) => Cookie.split('=')[1] ?? ''

describe('a session cookie on /v2', () => {
  it('counts with the secret of the session, for all scopes', async () => {
    const session = await aSession(app, admin)
    const answer = await app.request('GET', '/v2/user', { headers: session })
    expect([answer.status, answer.body.id]).toEqual([200, admin.id])
    const created = await app.request('POST', `${org.path}/clusters`, {
      headers: { ...session, Origin: baseUrl, 'Sec-Fetch-Site': 'same-origin' },
      body: { name: 'Made by a page' },
    })
    expect(created.status).toBe(201)
  })

  it.each([
    ['without the secret', { 'X-Millrace-Page': '' }],
    ['with the header of earlier releases', { 'X-Millrace-Page': '1' }],
    ['with another secret', { 'X-Millrace-Page': `mrps_${'x'.repeat(40)}` }],
    ['from another origin', { Origin: 'https://evil.example' }],
    ['from a sandboxed page', { Origin: 'null' }],
    ['from another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['from another host of the same site', { 'Sec-Fetch-Site': 'same-site' }],
    ['from the address bar', { 'Sec-Fetch-Site': 'none' }],
  ])('does not count %s', async (_case, headers: Headers) => {
    const session = await aSession(app, admin)
    const read = await app.request('GET', '/v2/user', { headers: { ...session, ...headers } })
    expect(read.status).toBe(401)
    const written = await app.request('POST', `${org.path}/clusters`, {
      headers: { ...session, ...headers },
      body: { name: 'Made by another site' },
    })
    expect(written.status).toBe(401)
  })

  it('does not let a form of another site write', async () => {
    const session = await aSession(app, admin)
    const sent = await fetch(`${app.address}${org.path}/clusters`, {
      method: 'POST',
      headers: { ...session, Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' },
      body: new URLSearchParams({ name: 'Made by a form' }),
    })
    expect(sent.status).toBe(401)
  })

  it('is answered for our pages alone, and for no cache', async () => {
    const session = await aSession(app, admin)
    for (const path of ['/v2/user', '/v2/organizations/nowhere', '/v2/nothing']) {
      const { headers } = await app.request('GET', path, { headers: session })
      expect(headers.get('access-control-allow-origin')).toBeNull()
      expect(headers.get('cache-control')).toBe('no-store')
    }
    const over = { ...(await aSession(app, admin)), Cookie: `millrace_session=mrws_${'x'.repeat(40)}` }
    const unknown = await app.request('GET', '/v2/user', { headers: over })
    expect([unknown.status, unknown.headers.get('access-control-allow-origin')]).toEqual([401, null])
    const byToken = await app.request('GET', '/v2/user', { token: admin.token })
    expect(byToken.headers.get('access-control-allow-origin')).toBe('*')
  })

  it('has a header that pages of other origins may not send', async () => {
    const answer = await app.request('OPTIONS', '/v2/user', {
      headers: { Origin: 'https://evil.example', 'Access-Control-Request-Headers': 'x-millrace-page' },
    })
    expect(answer.headers.get('access-control-allow-headers')?.toLowerCase()).not.toContain('millrace')
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
  })

  it('loses to a bearer token, even to one that is not valid', async () => {
    const session = await aSession(app, admin)
    const other = await aMember(app, org)
    const answer = await app.request('GET', '/v2/user', { token: other.token, headers: session })
    expect([answer.body.id, answer.headers.get('access-control-allow-origin')]).toEqual([other.id, '*'])
    expect((await app.request('GET', '/v2/user', { token: 'mrt_nope', headers: session })).status).toBe(401)
  })

  it('counts beside the Authorization header of a proxy', async () => {
    const session = await aSession(app, admin)
    expect(await statusOn(app, { ...session, Authorization: 'Basic YTpi' })).toBe(200)
  })

  it('is no bearer token', async () => {
    const value = valueOf(await aSession(app, admin))
    expect((await app.request('GET', '/v2/user', { token: value })).status).toBe(401)
  })

  it('leaves the session in audit events', async () => {
    const session = await aSession(app, admin)
    await app.request('POST', `${org.path}/clusters`, {
      headers: session,
      body: { name: 'Audited' },
    })
    const [event] = (await app.request('GET', `${org.path}/audit_events`, { token: admin.token })).list
    expect(event?.context).toEqual({
      type: 'SessionContext',
      request_ip: '127.0.0.1',
      request_user_agent: 'node',
      api_access_token_uuid: null,
      session_uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  })

  it('has no access token of its own', async () => {
    const headers = await aSession(app, admin)
    for (const method of ['GET', 'DELETE']) {
      expect((await app.request(method, '/v2/access-token', { headers })).status).toBe(404)
    }
  })
})

describe('downloads', () => {
  let world: World
  beforeAll(async () => {
    world = await aWorld(app)
  })
  const routes = Object.values(slices).flat()

  it('are artifacts and the text of logs', () => {
    const marked = routes.filter(({ download }) => download)
    expect(new Set(marked.map(({ url }) => url.split('/').at(-1)))).toEqual(new Set(['download', 'log.txt']))
    expect(marked.flatMap(({ methods }) => methods).every((method) => method === 'GET')).toBe(true)
  })

  const ticketFor = async (session: SessionHeaders, path: string) => {
    const asked = await app.request('POST', '/-/page-tickets', { headers: session, body: { path } })
    return { status: asked.status, ticket: String(asked.body['ticket']) }
  }
  const withTicket = (path: string, ticket: string) =>
    `${path}${path.includes('?') ? '&' : '?'}page_ticket=${ticket}`

  it('need a ticket for their path, and only from our own pages', async () => {
    const session = await aSession(app, world.admin)
    const cookie = { Cookie: session.Cookie }
    const other = { Cookie: (await aSession(app, world.admin)).Cookie }
    for (const route of routes.filter(({ download }) => download)) {
      const path = urlIn(world, route)
      expect((await app.request('GET', path, { headers: cookie })).status).toBe(401)
      const { ticket } = await ticketFor(session, path)
      const get = (headers: Headers, url = withTicket(path, ticket), method = 'GET') =>
        app.request(method, url, { headers: { ...cookie, ...headers } })
      expect((await get({})).status).not.toBe(401)
      expect((await get({ 'Sec-Fetch-Site': 'same-origin' })).status).not.toBe(401)
      expect((await get({})).headers.get('access-control-allow-origin')).toBeNull()
      expect((await get({ 'Sec-Fetch-Site': 'cross-site' })).status).toBe(401)
      expect((await get({ 'Sec-Fetch-Site': 'none' })).status).toBe(401)
      expect((await get({ Origin: 'https://evil.example' })).status).toBe(401)
      expect((await get({}, withTicket(path, ticket), 'HEAD')).status).toBe(401)
      expect((await get({}, withTicket(`${path}?a=b`, ticket))).status).toBe(401)
      expect((await get({}, withTicket('/v2/user', ticket))).status).toBe(401)
      expect((await get(other)).status).toBe(401)
      expect((await app.request('GET', withTicket(path, ticket))).status).toBe(401)
    }
  })

  it('get a ticket only with the secret, for a path of this server', async () => {
    const session = await aSession(app, world.admin)
    for (const secret of ['', '1', `mrps_${'x'.repeat(40)}`]) {
      expect((await ticketFor({ ...session, 'X-Millrace-Page': secret }, '/a')).status).toBe(401)
    }
    for (const path of ['//evil.example/', 'https://evil.example/', '', 'a']) {
      expect((await ticketFor(session, path)).status).toBe(422)
    }
  })

  it('end a minute after their ticket, on every server', async () => {
    const session = await aSession(app, world.admin)
    const download = routes.find((route) => route.download)
    const path = urlIn(world, download ?? { url: '' })
    const { ticket } = await ticketFor(session, path)
    const secondsOf = (server: TestApp) => Number(ticket.split('.')[0]) - server.ctx.now().getTime() / 1000
    expect(secondsOf(app)).toBeLessThanOrEqual(61)
    const late = await startApp({ now: () => new Date(Date.now() + 62_000) }, app.database)
    onTestFinished(() => late.close())
    const statuses = await Promise.all(
      [second, late].map((server) =>
        server.request('GET', withTicket(path, ticket), { headers: { Cookie: session.Cookie } }),
      ),
    )
    expect(statuses.map(({ status }) => status === 401)).toEqual([false, true])
  })

  it('are the only routes that take a ticket', async () => {
    const session = await aSession(app, world.admin)
    const others = routes.filter(({ download, permission }) => !download && permission !== 'anonymous')
    for (const route of others) {
      for (const method of route.methods) {
        const path = urlIn(world, route)
        const { ticket } = await ticketFor(session, path)
        const headers = { Cookie: session.Cookie }
        const answer = await app.request(method, withTicket(path, ticket), { headers })
        expect([method, route.url, answer.status]).toEqual([method, route.url, 401])
      }
    }
  })
})

describe('a session that an access token opened', () => {
  const opened = async (given: Parameters<typeof aToken>[2]) => {
    const token = await aToken(app, admin, given)
    const accessTokenId = await tokenId(app, token)
    return { accessTokenId, session: await aSession(app, admin, { how: 'token', accessTokenId }) }
  }

  it('has the scopes of the token', async () => {
    const { session } = await opened({ scopes: ['read_clusters'] })
    expect(await statusOn(app, session, `${org.path}/clusters`)).toBe(200)
    expect(await statusOn(app, session)).toBe(403)
  })

  it('has the organizations of the token', async () => {
    const other = await anOrganization(app)
    await sql`insert into organization_members (organization_id, user_id, role) values (${other.id}, ${admin.id}, 'admin')`.execute(
      app.db,
    )
    const { session } = await opened({ organizations: [org] })
    expect(await statusOn(app, session, `${org.path}/clusters`)).toBe(200)
    expect(await statusOn(app, session, `${other.path}/clusters`)).toBe(404)
  })

  it('has the address ranges of the token', async () => {
    const { session } = await opened({ allowedIpAddresses: '192.0.2.0/24' })
    expect(await statusOn(app, session)).toBe(403)
    expect(await statusOn(app, { ...session, 'X-Forwarded-For': '192.0.2.7' })).toBe(200)
  })

  it('ends with the token, on every server', async () => {
    const { session, accessTokenId } = await opened({})
    for (const server of [app, second]) expect(await statusOn(server, session)).toBe(200)
    await revokeAccessToken(app.db, operator, accessTokenId)
    await flushTokenCaches(app.db)
    for (const server of [app, second]) expect(await statusOn(server, session)).toBe(401)
  })

  it('ends when the token expires', async () => {
    const { session, accessTokenId } = await opened({ expiresAt: '2099-01-01T00:00:00Z' })
    expect(await statusOn(app, session)).toBe(200)
    await sql`update api_access_tokens set expires_at = now() - interval '1 second' where id = ${accessTokenId}`.execute(
      app.db,
    )
    await flushTokenCaches(app.db)
    expect(await statusOn(app, session)).toBe(401)
  })
})

describe('a session', () => {
  it('ends on every server before the answer', async () => {
    const session = await aSession(app, admin)
    for (const server of [app, second]) expect(await statusOn(server, session)).toBe(200)
    await endSession(app.db, valueOf(session))
    for (const server of [app, second]) expect(await statusOn(server, session)).toBe(401)
  })

  it('is cleared from the caches when somebody deletes it by hand', async () => {
    const session = await aSession(app, admin)
    expect(await statusOn(second, session)).toBe(200)
    await sql`delete from web_sessions where token_hash = sha256(${valueOf(session)}::bytea)`.execute(app.db)
    expect(await eventually('is refused', async () => (await statusOn(second, session)) === 401)).toBe(true)
  })

  it('loses an organization on every server before its owner is removed', async () => {
    const member = await aMember(app, org)
    const session = await aSession(app, member)
    const path = `${org.path}/pipelines`
    for (const server of [app, second]) expect(await statusOn(server, session, path)).toBe(200)
    const removed = await app.request('DELETE', `${org.path}/members/${member.id}`, { token: admin.token })
    expect(removed.status).toBe(204)
    for (const server of [app, second]) expect(await statusOn(server, session, path)).toBe(404)
  })

  it('lasts 14 days after its last use, and is prolonged at most once an hour', async () => {
    const hours = (count: number) => count * 3_600_000
    const now = app.ctx.now().getTime()
    const at = (ms: number) => new Date(now + ms).toISOString()
    const expiryOf = async (createdAgo: number) => {
      const session = await aSession(app, admin, { how: 'password', now: new Date(now - createdAgo) })
      const hash = sql`sha256(${valueOf(session)}::bytea)`
      expect(await statusOn(app, { ...session, 'X-Forwarded-For': '192.0.2.9' })).toBe(200)
      await app.ctx.sessionUse.flush()
      const { rows } = await sql<{ expires_at: string; last_used_at: string; last_used_ip: string }>`
        select expires_at, last_used_at, last_used_ip from web_sessions where token_hash = ${hash}`.execute(
        app.db,
      )
      expect(rows[0]?.last_used_ip).toBe('192.0.2.9')
      expect(Date.parse(rows[0]?.last_used_at ?? '')).toBeGreaterThanOrEqual(now)
      return Date.parse(rows[0]?.expires_at ?? '')
    }
    expect(new Date(await expiryOf(hours(0.9))).toISOString()).toBe(at(hours(14 * 24 - 0.9)))
    expect(await expiryOf(hours(1.1))).toBeGreaterThanOrEqual(now + hours(14 * 24))
    expect(await expiryOf(hours(13 * 24))).toBeGreaterThanOrEqual(now + hours(14 * 24))
    const over = await aSession(app, admin, { how: 'link', now: new Date(now - hours(14 * 24) - 1) })
    expect(await statusOn(app, over)).toBe(401)
  })
})
