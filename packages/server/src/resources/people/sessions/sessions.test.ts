import { beforeAll, describe, expect, it } from 'vitest'
import { startApp, useApp } from '../../../../test/app.ts'
import { aMember, anOrganization, aToken, tokenId, type TestOrganization } from '../../../../test/builders.ts'
import { aSession, sessionId } from '../../../../test/sessions.ts'

const app = useApp()
const path = '/v2/user/sessions'

let org: TestOrganization
beforeAll(async () => {
  org = await anOrganization(app)
})

describe('GET /v2/user/sessions', () => {
  it('lists the sessions of the caller, last used first', async () => {
    const person = await aMember(app, org)
    await aSession(app, await aMember(app, org))
    const older = new Date(Date.now() - 3_600_000)
    const accessTokenId = await tokenId(app, await aToken(app, person))
    await aSession(app, person, { how: 'token', accessTokenId, now: older, userAgent: null, ip: '192.0.2.1' })
    const expired = new Date(Date.now() - 15 * 86_400_000)
    await aSession(app, person, { how: 'link', now: expired })
    const headers = await aSession(app, person)
    const answer = await app.request('GET', path, { headers })
    expect([answer.status, answer.list]).toEqual([
      200,
      [
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          opened_with: 'password',
          ip: '127.0.0.1',
          user_agent: 'a browser',
          created_at: expect.any(String),
          last_used_at: expect.any(String),
          last_used_ip: '127.0.0.1',
          expires_at: expect.any(String),
          current: true,
        },
        expect.objectContaining({ opened_with: 'token', ip: '192.0.2.1', user_agent: null, current: false }),
      ],
    ])
  })
})

describe('DELETE /v2/user/sessions/{id}', () => {
  it('ends the session on every server before it answers', async () => {
    const second = await startApp({}, app.database)
    const person = await aMember(app, org)
    const headers = await aSession(app, person)
    const [own] = (await second.request('GET', path, { headers })).list
    expect((await app.request('DELETE', `${path}/${own?.id}`, { token: person.token })).status).toBe(204)
    for (const server of [app, second]) {
      expect((await server.request('GET', path, { headers })).status).toBe(401)
    }
    await second.close()
  })

  it('does not find the session of another person', async () => {
    const [person, other] = [await aMember(app, org), await aMember(app, org)]
    const at = `${path}/${await sessionId(app, other)}`
    expect((await app.request('DELETE', at, { token: person.token })).status).toBe(404)
  })

  it('needs write_user', async () => {
    const person = await aMember(app, org)
    const token = await aToken(app, person, { scopes: ['read_user'] })
    const at = `${path}/${await sessionId(app, person)}`
    expect((await app.request('DELETE', at, { token })).status).toBe(403)
  })
})

describe('DELETE /v2/user/sessions', () => {
  it('ends all sessions of the caller, and nobody else’s', async () => {
    const [person, other] = [await aMember(app, org), await aMember(app, org)]
    const first = await aSession(app, person)
    const second = await aSession(app, person)
    const others = await aSession(app, other)
    for (const headers of [first, second, others]) {
      expect((await app.request('GET', path, { headers })).status).toBe(200)
    }
    expect((await app.request('DELETE', path, { headers: first })).status).toBe(204)
    for (const headers of [first, second]) {
      expect((await app.request('GET', path, { headers })).status).toBe(401)
    }
    expect((await app.request('GET', path, { headers: others })).status).toBe(200)
  })
})

describe('a session of single sign-on', () => {
  it('sees and ends only sessions that reach no other organization', async () => {
    const person = await aMember(app, org)
    const sso = { how: 'sso', organizationId: org.id } as const
    const other = { how: 'sso', organizationId: (await anOrganization(app)).id } as const
    const headers = await aSession(app, person, sso)
    const twin = await aSession(app, person, sso)
    const hidden = [await aSession(app, person), await aSession(app, person, other)]
    const { list } = await app.request('GET', path, { headers })
    expect(list.map(({ opened_with: how }) => how)).toEqual(['sso', 'sso'])
    const password = await sessionId(app, person)
    expect((await app.request('DELETE', `${path}/${password}`, { headers })).status).toBe(404)
    expect((await app.request('DELETE', path, { headers })).status).toBe(204)
    expect((await app.request('GET', path, { headers: twin })).status).toBe(401)
    for (const cookie of hidden) {
      expect((await app.request('GET', path, { headers: cookie })).status).toBe(200)
    }
  })
})
