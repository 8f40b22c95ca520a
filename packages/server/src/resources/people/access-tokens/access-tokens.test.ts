import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { startApp, useApp } from '../../../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aToken,
  auditTrail,
  tokenId,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { aSession } from '../../../../test/sessions.ts'
import { flushTokenCaches } from '../../../auth/access-watch.ts'
import { scopes } from '../../../auth/scopes.ts'
import { newId } from '../../../lib/ids.ts'

const app = useApp()
const path = '/v2/user/access-tokens'

let org: TestOrganization
let user: TestUser
beforeAll(async () => {
  org = await anOrganization(app)
  user = await aMember(app, org)
})

const asked = { description: 'Dashboard', scopes: ['read_builds', 'read_user'] }
const bySession = async (person: { id: string }) => await aSession(app, person)
const aSecondOrganization = async (person: TestUser) => {
  const other = await anOrganization(app)
  await sql`insert into organization_members (organization_id, user_id, role)
    values (${other.id}, ${person.id}, 'member')`.execute(app.db)
  return other
}

describe('POST /v2/user/access-tokens', () => {
  it('creates a token that works, shows it once, and writes an audit event', async () => {
    const person = await aMember(app, org)
    const headers = await bySession(person)
    const body = { ...asked, expires_in_days: 90 }
    const answer = await app.request('POST', path, { headers, body })
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        token: expect.stringMatching(/^mrt_\w{40}$/),
        description: 'Dashboard',
        scopes: ['read_builds', 'read_user'],
        organization_slugs: null,
        created_at: expect.any(String),
        expires_at: expect.any(String),
        last_used_at: null,
        last_used_ip: null,
        program: null,
        is_machine: false,
        current: false,
      },
    ])
    const days =
      (Date.parse(String(answer.body.expires_at)) - Date.parse(String(answer.body.created_at))) / 86_400_000
    expect(days).toBeCloseTo(90, 2)
    const token = String(answer.body.token)
    expect((await app.request('GET', '/v2/user', { token })).body.id).toBe(person.id)
    expect((await app.request('GET', path, { headers })).text).not.toContain(token)
    const [event] = (await auditTrail(app, org, 'API_ACCESS_TOKEN_CREATED')).slice(-1)
    expect(event).toMatchObject({ actor: { uuid: person.id }, subject: { uuid: answer.body.id } })
  })

  it('limits the token to organizations of its owner', async () => {
    const other = await aSecondOrganization(user)
    const headers = await bySession(user)
    const answer = await app.request('POST', path, {
      headers,
      body: { ...asked, organization_slugs: [other.slug] },
    })
    expect(answer.body.organization_slugs).toEqual([other.slug])
    const token = String(answer.body.token)
    expect((await app.request('GET', `${other.path}/builds`, { token })).status).toBe(200)
    expect((await app.request('GET', `${org.path}/builds`, { token })).status).toBe(404)
    const foreign = await anOrganization(app)
    const refused = await app.request('POST', path, {
      headers,
      body: { ...asked, organization_slugs: [foreign.slug] },
    })
    expect([refused.status, refused.body.message]).toEqual([
      422,
      `Validation failed: there is no organization "${foreign.slug}"`,
    ])
  })

  it.each([
    [{ ...asked, description: '' }],
    [{ ...asked, scopes: [] }],
    [{ ...asked, scopes: ['read_everything'] }],
    [{ ...asked, expires_in_days: 0 }],
    [{ ...asked, expires_in_days: 4000 }],
    [{ ...asked, organization_slugs: [] }],
    [{ scopes: ['read_user'] }],
  ])('refuses %j with 422', async (body) => {
    expect((await app.request('POST', path, { headers: await bySession(user), body })).status).toBe(422)
  })

  it('refuses a token without write_user, whatever it may read', async () => {
    const token = await aToken(app, user, { scopes: scopes.filter((scope) => scope !== 'write_user') })
    const answer = await app.request('POST', path, { token, body: { ...asked, scopes: ['read_user'] } })
    expect([answer.status, answer.body.message]).toEqual([
      403,
      "Your access token doesn't have the write_user scope",
    ])
  })

  it('gives a token no scope that the creating token lacks', async () => {
    const own = ['read_user', 'write_user', 'read_builds']
    const token = await aToken(app, user, { scopes: own })
    expect((await app.request('POST', path, { token, body: { ...asked, scopes: own } })).status).toBe(201)
    const answer = await app.request('POST', path, { token, body: { ...asked, scopes: ['write_builds'] } })
    expect([answer.status, answer.body.message]).toEqual([
      403,
      "Your access token doesn't have the write_builds scope, so it cannot create one that has it",
    ])
    const accessTokenId = await tokenId(app, token)
    const session = await aSession(app, user, { how: 'token', accessTokenId })
    const again = await app.request('POST', path, {
      headers: session,
      body: { ...asked, scopes: ['write_builds'] },
    })
    expect(again.status).toBe(403)
  })

  it('gives a token no organization, address and time that the creating token lacks', async () => {
    const person = await aMember(app, org)
    const other = await aSecondOrganization(person)
    const expiresAt = new Date(Date.now() + 10 * 86_400_000).toISOString()
    const token = await aToken(app, person, {
      organizations: [org],
      expiresAt,
      allowedIpAddresses: '127.0.0.0/8',
    })
    const ask = (body: object) => app.request('POST', path, { token, body: { ...asked, ...body } })
    expect((await ask({ expires_in_days: null })).status).toBe(422)
    expect((await ask({ expires_in_days: 11 })).status).toBe(422)
    expect((await ask({ expires_in_days: 9, organization_slugs: [other.slug] })).status).toBe(422)
    const made = await ask({ expires_in_days: 9 })
    expect([made.status, made.body.organization_slugs]).toEqual([201, [org.slug]])
    const row = await app.db
      .selectFrom('api_access_tokens')
      .select('allowed_ip_addresses')
      .where('id', '=', String(made.body.id))
      .executeTakeFirstOrThrow()
    expect(row.allowed_ip_addresses).toBe('127.0.0.0/8')
  })

  it('lets a session of a token that does not expire create one', async () => {
    const session = await aSession(app, user, {
      how: 'token',
      accessTokenId: await tokenId(app, await aToken(app, user)),
    })
    const answer = await app.request('POST', path, { headers: session, body: asked })
    expect([answer.status, answer.body.expires_at]).toEqual([201, null])
  })

  it('respects organizations in which only administrators create tokens', async () => {
    const closed = await anOrganization(app)
    const [admin, member] = [await anAdmin(app, closed), await aMember(app, closed)]
    const open = await aSecondOrganization(member)
    const body = { restrict_user_api_token_creation: true }
    await app.request('PUT', `${closed.path}/api-settings`, { token: admin.token, body })
    const headers = await bySession(member)
    const refused = await app.request('POST', path, { headers, body: asked })
    expect([refused.status, refused.body.message]).toEqual([
      403,
      `In ${closed.slug} only administrators create access tokens. Name other organizations in organization_slugs`,
    ])
    const named = await app.request('POST', path, {
      headers,
      body: { ...asked, organization_slugs: [closed.slug] },
    })
    expect(named.status).toBe(403)
    const elsewhere = await app.request('POST', path, {
      headers,
      body: { ...asked, organization_slugs: [open.slug] },
    })
    expect(elsewhere.status).toBe(201)
    const byAdmin = await app.request('POST', path, { headers: await bySession(admin), body: asked })
    expect(byAdmin.status).toBe(201)
  })
})

describe('POST /v2/user/access-tokens with single sign-on', () => {
  const required = async () => {
    const organization = await anOrganization(app)
    const person = await aMember(app, organization)
    await sql`update organization_members set sso_mode = 'required' where user_id = ${person.id}`.execute(
      app.db,
    )
    const { sealed, keyId } = app.ctx.keys.seal('a secret')
    await app.db
      .insertInto('organization_sso')
      .values({
        id: newId(),
        organization_id: organization.id,
        issuer: 'https://id.example.com',
        client_id: 'millrace',
        client_secret_sealed: sealed,
        client_secret_key_id: keyId,
        scopes: ['openid'],
        groups_claim: 'groups',
        email_domains: [],
        provision: false,
        is_required: false,
        is_enabled: true,
      })
      .execute()
    return { organization, person }
  }

  it('refuses a session that has not passed it', async () => {
    const { organization, person } = await required()
    const answer = await app.request('POST', path, { headers: await bySession(person), body: asked })
    expect([answer.status, answer.body.message]).toEqual([
      403,
      `${organization.slug} requires single sign-on. Sign in there first, or name other organizations in organization_slugs`,
    ])
  })

  it('limits the token of a session that has passed it to that organization', async () => {
    const { organization, person } = await required()
    await aSecondOrganization(person)
    const session = await aSession(app, person, { how: 'sso', organizationId: organization.id })
    const answer = await app.request('POST', path, { headers: session, body: asked })
    expect([answer.status, answer.body.organization_slugs]).toEqual([201, [organization.slug]])
  })
})

describe('GET /v2/user/access-tokens', () => {
  it('lists the valid tokens of the caller, newest first', async () => {
    const person = await aMember(app, org)
    const newer = await aToken(app, person, { scopes: ['read_user'], organizations: [org] })
    await aToken(app, person, { expiresAt: '2020-01-01T00:00:00Z' })
    await sql`update api_access_tokens set created_at = now() + interval '1 minute' where id = ${await tokenId(app, newer)}`.execute(
      app.db,
    )
    const answer = await app.request('GET', path, { token: person.token })
    expect(answer.list).toMatchObject([
      {
        id: await tokenId(app, newer),
        scopes: ['read_user'],
        organization_slugs: [org.slug],
        current: false,
      },
      { id: await tokenId(app, person.token), organization_slugs: null, current: true },
    ])
    await flushTokenCaches(app.db)
    const limited = await app.request('GET', path, { token: newer })
    expect(limited.list).toMatchObject([{ id: await tokenId(app, newer), current: true }])
  })
})

describe('DELETE /v2/user/access-tokens/{id}', () => {
  it('revokes the token on every server before it answers', async () => {
    const second = await startApp({}, app.database)
    const token = await aToken(app, user)
    expect((await second.request('GET', '/v2/user', { token })).status).toBe(200)
    const at = `${path}/${await tokenId(app, token)}`
    expect((await app.request('DELETE', at, { headers: await bySession(user) })).status).toBe(204)
    expect((await second.request('GET', '/v2/user', { token })).status).toBe(401)
    expect((await app.request('DELETE', at, { headers: await bySession(user) })).status).toBe(404)
    await second.close()
  })

  it('does not find the token of another person, nor of other organizations', async () => {
    const other = await aMember(app, org)
    const at = `${path}/${await tokenId(app, other.token)}`
    expect((await app.request('DELETE', at, { token: user.token })).status).toBe(404)
    const limited = await aToken(app, user, { organizations: [org] })
    const own = `${path}/${await tokenId(app, user.token)}`
    expect((await app.request('DELETE', own, { token: limited })).status).toBe(404)
  })

  it('needs write_user', async () => {
    const token = await aToken(app, user, { scopes: ['read_user'] })
    const at = `${path}/${await tokenId(app, token)}`
    expect((await app.request('DELETE', at, { token })).status).toBe(403)
  })
})
