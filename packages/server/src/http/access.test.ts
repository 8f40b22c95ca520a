import { beforeAll, describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aToken,
  tokenId,
  type TestOrganization,
  type TestUser,
} from '../../test/builders.ts'
import { slices } from '../app.ts'
import { flushTokenCaches } from '../auth/access-watch.ts'
import { scopes } from '../auth/scopes.ts'
import { newId } from '../lib/ids.ts'
import { revokeAccessToken } from '../resources/people/access-token/revoke.ts'

const app = useApp({ env: { MILLRACE_TRUSTED_PROXIES: '127.0.0.1' } })

let org: TestOrganization
let admin: TestUser
beforeAll(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
})

const operator = { kind: 'operator', command: 'test' } as const

const endpoints = Object.values(slices)
  .flat()
  .filter(({ permission }) => permission !== 'anonymous')
  .flatMap(({ methods, url, scope, permission, takesBasic }) =>
    methods.map((method) => ({ endpoint: `${method} ${url}`, method, url, scope, permission, takesBasic })),
  )
const inOrganization = endpoints.filter(({ url }) => url.startsWith('/v2/organizations/:org'))

const request = ({ method, url }: { method: string; url: string }, token?: string) =>
  app.request(
    method,
    url.replace(':org', org.slug).replace(/:\w+/g, newId()),
    token === undefined ? {} : { token },
  )

describe('every endpoint', () => {
  it('takes no password, except for programs that can send nothing else', () => {
    const urls = endpoints.filter(({ takesBasic }) => takesBasic).map(({ endpoint }) => endpoint)
    expect(urls.toSorted()).toEqual([
      'GET /v2/organizations/:org/cc.xml',
      'GET /v2/organizations/:org/pipelines/:pipeline/cc.xml',
    ])
  })

  it.each(endpoints)('$endpoint answers 401 without a token', async (endpoint) => {
    const answer = await request(endpoint)
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toBe(
      endpoint.takesBasic ? 'Basic realm="Millrace"' : 'Bearer',
    )
    expect(answer.body).toEqual({
      message: `Authentication required. Please supply a valid API Access Token: ${baseUrl}/docs`,
    })
  })

  it.each(endpoints.filter(({ scope }) => scope !== 'none'))(
    '$endpoint answers 403 to a token without $scope',
    async (endpoint) => {
      const others = scopes.filter((scope) => scope !== endpoint.scope)
      const answer = await request(endpoint, await aToken(app, admin, { scopes: others }))
      expect(answer.status).toBe(403)
      expect(answer.body).toEqual({ message: `Your access token doesn't have the ${endpoint.scope} scope` })
    },
  )

  it.each(inOrganization)('$endpoint answers 404 to those outside the organization', async (endpoint) => {
    const stranger = await anAdmin(app, await anOrganization(app))
    const answer = await request(endpoint, stranger.token)
    expect(answer.status).toBe(404)
    expect(answer.body).toEqual({ message: 'No organization found' })
  })

  it.each(inOrganization.filter(({ permission }) => permission === 'admin'))(
    '$endpoint answers 403 to members who are not administrators',
    async (endpoint) => {
      const answer = await request(endpoint, (await aMember(app, org)).token)
      expect(answer.status).toBe(403)
      expect(answer.body).toEqual({ message: 'Forbidden' })
    },
  )
})

describe('a token', () => {
  const status = async (authorization: string) =>
    (await app.request('GET', '/v2/user', { headers: { Authorization: authorization } })).status

  it('is a bearer token, in any case and spacing', async () => {
    expect(await status(`Bearer ${admin.token}`)).toBe(200)
    expect(await status(`bearer  ${admin.token} `)).toBe(200)
  })

  it.each(['', 'Bearer', 'Bearer x', 'Basic YTpi', `Bearer ${'x'.repeat(600)}`, "Bearer ' or 1=1"])(
    'that is malformed is refused with 401: %.30s',
    async (authorization) => {
      expect(await status(authorization)).toBe(401)
    },
  )

  it('is not read from the query', async () => {
    expect((await app.request('GET', `/v2/user?access_token=${admin.token}`)).status).toBe(401)
  })

  it('that has expired is refused with 401', async () => {
    const soon = new Date(Date.now() + 3_600_000).toISOString()
    const past = new Date(Date.now() - 1).toISOString()
    expect(await status(`Bearer ${await aToken(app, admin, { expiresAt: soon })}`)).toBe(200)
    expect(await status(`Bearer ${await aToken(app, admin, { expiresAt: past })}`)).toBe(401)
  })

  it('that has been revoked is refused with 401, and others are not', async () => {
    const token = await aToken(app, admin)
    await revokeAccessToken(app.db, operator, await tokenId(app, token))
    await flushTokenCaches(app.db)
    const statuses = await Promise.all([status(`Bearer ${token}`), status(`Bearer ${admin.token}`)])
    expect(statuses).toEqual([401, 200])
  })

  it('may be limited to address ranges', async () => {
    const token = await aToken(app, admin, { allowedIpAddresses: '192.0.2.0/24 2001:db8::1' })
    const from = (ip: string) => app.request('GET', '/v2/user', { token, headers: { 'X-Forwarded-For': ip } })
    expect((await from('192.0.2.200')).status).toBe(200)
    expect((await from('2001:db8::1')).status).toBe(200)
    expect((await from('::ffff:192.0.2.1')).status).toBe(200)
    expect((await from('2001:db8::2')).status).toBe(403)
    const answer = await from('192.0.3.1')
    expect(answer.status).toBe(403)
    expect(answer.body).toEqual({ message: 'Your access token may not be used from 192.0.3.1' })
  })

  it('that is limited to some organizations answers 404 for the others', async () => {
    const other = await anOrganization(app)
    const token = await aToken(app, admin, { organizations: [org] })
    expect((await app.request('GET', org.path, { token })).status).toBe(200)
    expect((await app.request('GET', other.path, { token })).body).toEqual({
      message: 'No organization found',
    })
  })

  it('of a former member answers 404', async () => {
    const member = await aMember(app, org)
    expect((await app.request('GET', org.path, { token: member.token })).status).toBe(200)
    await app.db.deleteFrom('organization_members').where('user_id', '=', member.id).execute()
    await flushTokenCaches(app.db)
    expect((await app.request('GET', org.path, { token: member.token })).status).toBe(404)
  })

  it('records when and from where it was last used', async () => {
    const token = await aToken(app, admin)
    const id = await tokenId(app, token)
    const lastUse = () =>
      app.db
        .selectFrom('api_access_tokens')
        .select(['last_used_at', 'last_used_ip'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
    expect(await lastUse()).toEqual({ last_used_at: null, last_used_ip: null })
    const before = app.ctx.now().toISOString()
    await app.request('GET', '/v2/user', { token, headers: { 'X-Forwarded-For': '192.0.2.1' } })
    await app.request('GET', '/v2/user', { token, headers: { 'X-Forwarded-For': '192.0.2.2' } })
    await app.ctx.tokenUse.flush()
    const { last_used_at: at, last_used_ip: ip } = await lastUse()
    expect(ip).toBe('192.0.2.2')
    expect(String(at) >= before).toBe(true)
  })
})

describe('the address of a caller', () => {
  it('is read from the headers of a trusted proxy only', async () => {
    const token = await aToken(app, admin, { allowedIpAddresses: '192.0.2.1' })
    const headers = { 'X-Forwarded-For': '192.0.2.1, 198.51.100.7' }
    expect((await app.request('GET', '/v2/user', { token, headers })).body.message).toBe(
      'Your access token may not be used from 198.51.100.7',
    )
  })
})
