import { describe, expect, it } from 'vitest'
import { startApp, useApp } from '../../../../test/app.ts'
import { aMember, anAdmin, anOrganization, aToken, tokenId } from '../../../../test/builders.ts'

const app = useApp()

describe('GET /v2/access-token', () => {
  it('describes the token and never shows it', async () => {
    const user = await aMember(app, await anOrganization(app), { name: 'Ada' })
    const expiresAt = '2099-01-02T03:04:05.678Z'
    const token = await aToken(app, user, { scopes: ['read_builds', 'read_user'], expiresAt })
    const answer = await app.request('GET', '/v2/access-token', { token })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      uuid: await tokenId(app, token),
      scopes: ['read_builds', 'read_user'],
      description: 'for a test',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      expires_at: expiresAt,
      user: { name: 'Ada', email: user.email },
    })
    expect(answer.text).not.toContain(token)
  })

  it('needs no scope', async () => {
    const user = await aMember(app, await anOrganization(app))
    const token = await aToken(app, user, { scopes: [] })
    const answer = await app.request('GET', '/v2/access-token', { token })
    expect(answer.body).toMatchObject({ scopes: [], expires_at: null })
  })
})

describe('DELETE /v2/access-token', () => {
  it('revokes the token at once, on every server of the installation, and no other token', async () => {
    const second = await startApp({}, app.database)
    const user = await aMember(app, await anOrganization(app))
    const token = await aToken(app, user, { scopes: [] })
    expect((await second.request('GET', '/v2/access-token', { token })).status).toBe(200)
    const answer = await app.request('DELETE', '/v2/access-token', { token })
    expect([answer.status, answer.text]).toEqual([204, ''])
    for (const server of [app, second]) {
      expect((await server.request('GET', '/v2/access-token', { token })).status).toBe(401)
      expect((await server.request('DELETE', '/v2/access-token', { token })).status).toBe(401)
      expect((await server.request('GET', '/v2/user', { token: user.token })).status).toBe(200)
    }
    await second.close()
  })

  it('revokes once when several requests arrive at once', async () => {
    const org = await anOrganization(app)
    const user = await aMember(app, org)
    const token = await aToken(app, user)
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => app.request('DELETE', '/v2/access-token', { token })),
    )
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    expect(answers.filter(({ status }) => status >= 500)).toHaveLength(0)
    const events = await app.db
      .selectFrom('audit_events')
      .select('id')
      .where('organization_id', '=', org.id)
      .where('type', '=', 'API_ACCESS_TOKEN_DELETED')
      .execute()
    expect(events).toHaveLength(1)
  })

  it('writes an audit event in every organization that the token covered', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const token = await aToken(app, admin)
    const id = await tokenId(app, token)
    await app.request('DELETE', '/v2/access-token', { token })
    const [event] = (await app.request('GET', `${org.path}/audit_events`, { token: admin.token })).list
    expect(event).toMatchObject({
      type: 'ApiAccessTokenDeletedEvent',
      actor: { uuid: admin.id },
      subject: { type: 'ApiAccessToken', uuid: id, name: 'for a test' },
      context: { api_access_token_uuid: id },
    })
  })
})
