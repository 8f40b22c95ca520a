import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { baseUrl, useApp, type Json } from '../../../test/app.ts'
import { aBrowser } from '../../../test/browser.ts'
import {
  anAdmin,
  anOrganization,
  auditTrail,
  type TestOrganization,
  type TestUser,
} from '../../../test/builders.ts'
import { aSession } from '../../../test/sessions.ts'
import { hashToken } from '../../lib/ids.ts'

const app = useApp()
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

async function post(path: string, fields: Record<string, string>): Promise<{ status: number; body: Json }> {
  const response = await fetch(app.address + path, { method: 'POST', body: new URLSearchParams(fields) })
  return { status: response.status, body: (await response.json()) as Json }
}

async function aClient(name = 'Robot'): Promise<string> {
  const { body } = await app.request('POST', '/-/oauth/register', {
    body: { client_name: name, grant_types: [deviceGrant, 'refresh_token'] },
  })
  return String(body['client_id'])
}

interface Connected {
  org: TestOrganization
  person: TestUser
  clientId: string
  access: string
  refresh: string
}

/** A program that a person has connected. */
async function connected(): Promise<Connected> {
  const org = await anOrganization(app)
  const person = await anAdmin(app, org)
  const clientId = await aClient()
  const { body: asked } = await post('/-/oauth/device_authorization', {
    client_id: clientId,
    scope: 'read_builds',
  })
  const browser = aBrowser(app)
  browser.use(await aSession(app, person))
  await browser.get('/-/device')
  await browser.submit('/-/device', { user_code: String(asked['user_code']) })
  await browser.submit('/-/device', { choice: 'allow' })
  const { status, body } = await post('/-/oauth/token', {
    grant_type: deviceGrant,
    client_id: clientId,
    device_code: String(asked['device_code']),
  })
  expect(status).toBe(200)
  expect(body['expires_in']).toBe(3600)
  return {
    org,
    person,
    clientId,
    access: String(body['access_token']),
    refresh: String(body['refresh_token']),
  }
}

const refresh = (
  { clientId }: Pick<Connected, 'clientId'>,
  token: string,
): Promise<{ status: number; body: Json }> =>
  post('/-/oauth/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: token })

const reads = async ({ org }: Connected, token: unknown) =>
  (await app.request('GET', `${org.path}/builds`, { token: String(token) })).status

const listed = async ({ person }: Connected) =>
  (await app.request('GET', '/v2/user/access-tokens', { token: person.token })).list

/** As if the grace had passed. */
const later = (token: string) =>
  sql`update oauth_refresh_tokens set used_at = used_at - interval '61 seconds' where token_hash = ${hashToken(token)}`.execute(
    app.db,
  )

describe('POST /-/oauth/token with a refresh token', () => {
  it('replaces both tokens, and lists one program', async () => {
    const program = await connected()
    const { status, body } = await refresh(program, program.refresh)
    expect(status).toBe(200)
    expect(body).toEqual({
      access_token: expect.stringMatching(/^mrt_\w{40}$/),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'read_builds',
      refresh_token: expect.stringMatching(/^mror_\w{40}$/),
    })
    expect(await reads(program, body['access_token'])).toBe(200)
    expect(await reads(program, program.access)).toBe(401)
    const again = await refresh(program, String(body['refresh_token']))
    expect(again.status).toBe(200)
    const items = await listed(program)
    const programs = items.filter((token) => String(token['program']) === 'Robot')
    expect(programs).toHaveLength(1)
    expect(Date.parse(String(programs[0]?.['expires_at']))).toBeGreaterThan(Date.now() + 89 * 86_400_000)
  })

  it('gives the same answer again for a minute, because an answer can be lost', async () => {
    const program = await connected()
    const first = await refresh(program, program.refresh)
    const again = await refresh(program, program.refresh)
    expect(again.body['access_token']).toBe(first.body['access_token'])
    expect(again.body['refresh_token']).toBe(first.body['refresh_token'])
    expect(await reads(program, first.body['access_token'])).toBe(200)
  })

  it('gives all the same tokens, when they refresh at once', async () => {
    const program = await connected()
    const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(program, program.refresh)))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
    const values = new Set(
      answers.map(({ body }) => `${String(body['access_token'])} ${String(body['refresh_token'])}`),
    )
    expect(values.size).toBe(1)
  })

  it('ends the access of the program when an old token is used after a minute', async () => {
    const program = await connected()
    const { body } = await refresh(program, program.refresh)
    await later(program.refresh)
    expect((await refresh(program, program.refresh)).body).toMatchObject({ error: 'invalid_grant' })
    expect(await reads(program, body['access_token'])).toBe(401)
    expect((await refresh(program, String(body['refresh_token']))).body).toMatchObject({
      error: 'invalid_grant',
    })
    expect(await auditTrail(app, program.org, 'API_ACCESS_TOKEN_DELETED')).toContainEqual(
      expect.objectContaining({ data: expect.objectContaining({ reason: 'refresh_token_reused' }) }),
    )
  })

  it('ends it also within the minute, when the next token was used already', async () => {
    const program = await connected()
    const { body } = await refresh(program, program.refresh)
    const { body: newest } = await refresh(program, String(body['refresh_token']))
    expect((await refresh(program, program.refresh)).status).toBe(400)
    expect(await reads(program, newest['access_token'])).toBe(401)
  })

  it('is only for the client that got it', async () => {
    const program = await connected()
    const other = await aClient('Other')
    expect((await refresh({ clientId: other }, program.refresh)).body).toMatchObject({
      error: 'invalid_grant',
    })
    expect((await refresh(program, program.refresh)).status).toBe(200)
  })

  it('works also when the access token has expired, and not when it has itself', async () => {
    const program = await connected()
    await sql`
      update api_access_tokens set expires_at = now() - interval '1 hour'
      where token_hash = ${hashToken(program.access)}`.execute(app.db)
    expect(await reads(program, program.access)).toBe(401)
    const { body } = await refresh(program, program.refresh)
    expect(await reads(program, body['access_token'])).toBe(200)
    const next = String(body['refresh_token'])
    await sql`
      update oauth_refresh_tokens set expires_at = ${app.ctx.now().toISOString()}
      where token_hash = ${hashToken(next)}`.execute(app.db)
    expect((await refresh(program, next)).body).toMatchObject({ error: 'invalid_grant' })
  })

  it('renews nothing for a person who was deleted, and shows nothing where the person is no member any more', async () => {
    const program = await connected()
    await app.db.deleteFrom('organization_members').where('user_id', '=', program.person.id).execute()
    const { body } = await refresh(program, program.refresh)
    expect(await reads(program, body['access_token'])).toBe(404)
    await app.db.deleteFrom('users').where('id', '=', program.person.id).execute()
    expect((await refresh(program, String(body['refresh_token']))).status).toBe(400)
  })

  it('gives none to programs that have not registered for it', async () => {
    const { body } = await app.request('GET', '/.well-known/oauth-authorization-server')
    expect(body['grant_types_supported']).toContain('refresh_token')
    expect(body['revocation_endpoint']).toBe(`${baseUrl}/-/oauth/revoke`)
    const { body: refused } = await refresh({ clientId: await aClient() }, 'mror_x')
    expect(refused).toMatchObject({ error: 'invalid_grant' })
  })
})

describe('DELETE /v2/user/access-tokens/{id} of a connected program', () => {
  it('ends its refresh token too', async () => {
    const program = await connected()
    const items = await listed(program)
    const id = String(items.find((token) => String(token['program']) === 'Robot')?.['id'])
    const path = `/v2/user/access-tokens/${id}`
    expect((await app.request('DELETE', path, { token: program.person.token })).status).toBe(204)
    expect((await refresh(program, program.refresh)).body).toMatchObject({ error: 'invalid_grant' })
  })
})

describe('POST /-/oauth/revoke', () => {
  it.each(['access', 'refresh'] as const)('ends the access of the program by its %s token', async (which) => {
    const program = await connected()
    const other = await aClient('Other')
    const foreign = await post('/-/oauth/revoke', { client_id: other, token: program[which] })
    expect(foreign.status).toBe(200)
    expect(await reads(program, program.access)).toBe(200)
    const { status } = await post('/-/oauth/revoke', { client_id: program.clientId, token: program[which] })
    expect(status).toBe(200)
    expect(await reads(program, program.access)).toBe(401)
    expect((await refresh(program, program.refresh)).status).toBe(400)
  })

  it('says nothing about tokens that it does not know', async () => {
    const clientId = await aClient()
    expect((await post('/-/oauth/revoke', { client_id: clientId, token: 'x' })).status).toBe(200)
    expect((await post('/-/oauth/revoke', { client_id: 'x.y', token: 'x' })).body).toMatchObject({
      error: 'invalid_client',
    })
  })

  it('does not end tokens of the person', async () => {
    const program = await connected()
    await post('/-/oauth/revoke', { client_id: program.clientId, token: program.person.token })
    expect(await reads(program, program.person.token)).toBe(200)
  })
})
