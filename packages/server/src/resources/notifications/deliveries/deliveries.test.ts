import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aToken,
  auditTrail,
  withFeature,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'

// No worker runs here, so deliveries stay pending.
const app = useApp()

const unknownId = '01885682-55a7-44f5-84f3-0402fb452e66'

async function aServiceOf(org: TestOrganization, admin: TestUser): Promise<string> {
  const body = { provider: 'webhook', settings: { url: 'https://hooks.example.com/' } }
  const answer = await app.request('POST', `${org.path}/services`, { token: admin.token, body })
  return `${org.path}/services/${answer.body.id}`
}

async function aScene() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const path = await aServiceOf(org, admin)
  const ask = (method: string, rest: string, token = admin.token) =>
    app.request(method, `${path}${rest}`, { token })
  return { org, admin, path, ask }
}

describe('GET /v2/organizations/{org.slug}/services/{uuid}/deliveries', () => {
  it('lists deliveries newest first, in pages, and by state', async () => {
    const { path, ask } = await aScene()
    const made = [await ask('POST', '/test'), await ask('POST', '/test')].map(({ body }) => String(body.id))
    const all = await ask('GET', '/deliveries')
    expect(all.list.map(({ id }) => String(id)).slice(0, 2)).toEqual(made.toReversed())
    expect(all.list).toHaveLength(3)
    const [newest] = all.list
    expect(newest).toEqual({
      id: made[1],
      url: `${baseUrl}${path}/deliveries/${made[1]}`,
      service_url: `${baseUrl}${path}`,
      event: 'ping',
      state: 'pending',
      attempts_count: 0,
      next_attempt_at: expect.any(String),
      build_url: null,
      occurred_at: expect.any(String),
      created_at: expect.any(String),
      finished_at: null,
    })
    const first = await ask('GET', '/deliveries?per_page=2')
    const rest = await app.request('GET', String(first.body.links.next).slice(baseUrl.length), {
      token: (await aScene()).admin.token,
    })
    expect(rest.status).toBe(404)
    expect((await ask('GET', '/deliveries?state=pending')).list).toHaveLength(3)
    expect((await ask('GET', '/deliveries?state=dead')).list).toEqual([])
    expect((await ask('GET', '/deliveries?state=lost')).status).toBe(400)
  })
})

describe('POST /v2/organizations/{org.slug}/services/{uuid}/deliveries/{id}/redeliver', () => {
  it('is recorded in the audit log', async () => {
    const { org, ask, path } = await aScene()
    const { body } = await ask('POST', '/test')
    expect((await ask('POST', `/deliveries/${body.id}/redeliver`)).status).toBe(200)
    expect(await auditTrail(app, org, 'NOTIFICATION_DELIVERY_REDELIVERED')).toMatchObject([
      { subject: { uuid: path.split('/').at(-1) }, data: { delivery_id: body.id } },
    ])
  })
})

describe('GET /v2/organizations/{org.slug}/services/{uuid}/deliveries/{id}', () => {
  it('shows the payload before it is sent', async () => {
    const { ask } = await aScene()
    const [{ id } = {}] = (await ask('GET', '/deliveries')).list
    const { body } = await ask('GET', `/deliveries/${id}`)
    expect(JSON.parse(String(body.payload))).toMatchObject({ event: 'ping' })
    expect(body.attempts).toEqual([])
  })

  it('answers 404 for unknown deliveries and those of another service', async () => {
    const { org, admin, ask } = await aScene()
    const other = await aServiceOf(org, admin)
    const [foreign] = (await app.request('GET', `${other}/deliveries`, { token: admin.token })).list
    for (const id of [unknownId, 'x', foreign?.id]) {
      const answer = await ask('GET', `/deliveries/${id}`)
      expect([answer.status, answer.body]).toEqual([404, { message: 'No delivery found' }])
    }
  })
})

describe('deliveries', () => {
  it('are for those who may manage notification services, with the scope', async () => {
    const { org, admin, ask } = await aScene()
    const member = await aMember(app, org)
    const [{ id } = {}] = (await ask('GET', '/deliveries')).list
    const calls = [
      ['GET', '/deliveries', 'write_notification_services'],
      ['GET', `/deliveries/${id}`, 'write_notification_services'],
      ['POST', `/deliveries/${id}/redeliver`, 'read_notification_services'],
      ['POST', '/test', 'read_notification_services'],
    ] as const
    for (const [method, rest, wrongScope] of calls) {
      expect((await ask(method, rest, member.token)).status).toBe(403)
      expect((await ask(method, rest, await aToken(app, admin, { scopes: [wrongScope] }))).status).toBe(403)
    }
    await withFeature(app, org, 'members_manage_notification_services')
    for (const [method, rest] of calls) {
      expect((await ask(method, rest, member.token)).status).toBeLessThan(300)
    }
  })

  it('are refused for a provider that sends nothing', async () => {
    const { org, admin } = await aScene()
    await withFeature(app, org, 'event_log_api')
    const made = await app.request('POST', `${org.path}/services`, {
      token: admin.token,
      body: { provider: 'event_log_api' },
    })
    const path = `${org.path}/services/${made.body.id}/test`
    const answer = await app.request('POST', path, { token: admin.token })
    expect([answer.status, answer.body]).toEqual([
      422,
      { message: 'The provider event_log_api sends nothing, so there is nothing to test.' },
    ])
  })
})
