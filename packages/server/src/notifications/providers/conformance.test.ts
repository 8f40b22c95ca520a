// The conformance suite of all providers: their settings and their deliveries.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { eventually } from '../../../test/app.ts'
import {
  anAdmin,
  anOrganization,
  aPipeline,
  withFeature,
  type TestOrganization,
  type TestUser,
} from '../../../test/builders.ts'
import { aConnectedService } from '../../../test/connected-service.ts'
import { anOAuthSite, teamId } from '../../../test/remote-hosts/oauth-site.ts'
import { aReceiver } from '../../../test/remote-hosts/receiver.ts'
import { aBuild, runJob } from '../../../test/runs.ts'
import { useNotifications } from '../../../test/notifications.ts'
import { providerIds, type ProviderId } from '../names.ts'
import type { Field } from '../provider.ts'
import { findSender, providers } from './table.ts'

const site = await anOAuthSite()
let isDown = false
const receiver = await aReceiver((response) => {
  response.statusCode = isDown ? 500 : 200
  response.end(JSON.stringify({ FailedEntryCount: 0, Entries: [{ EventId: '1' }] }))
})
const origin = new URL(receiver.url).origin
const notifications = useNotifications({ ...site.env, MILLRACE_EVENT_BUS_ENDPOINT: origin })
const { app } = notifications
beforeAll(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret-of-the-cloud')
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await Promise.all([site.close(), receiver.close()])
})

/** A value for every setting of each provider. */
const whole: Readonly<Record<ProviderId, Record<string, unknown>>> = {
  webhook: {
    url: 'https://hooks.example.com/builds',
    token: 'a-token-of-some-length',
    token_mode: 'signature',
    version: 2,
    events: ['build.finished', 'agent.lost'],
    tls_verify: false,
  },
  chat: { url: 'https://chat.example.com/services/T0/B0/secret', theme: 'emoji' },
  cloud_event_bus: {
    cloud_region: 'eu-west-1',
    cloud_account_id: '123456789012',
    include_build_meta_data: true,
    include_audit_events: true,
  },
  monitoring_pipeline_visibility: {
    api_key: '0123456789abcdef0123456789abcdef',
    monitoring_site: 'datadoghq.eu',
    monitoring_tags: 'team:platform\nenv:ci',
  },
  open_telemetry_tracing: {
    endpoint: 'https://otel.example.com:4318',
    service_name: 'builds',
    headers: { authorization: 'Bearer secret' },
    resource_attributes: { 'deployment.environment': 'ci' },
    tracestate: 'vendor=value',
  },
  event_log_api: { events: ['build.finished'] },
  chat_workspace: {
    workspace_id: 'T0',
    workspace_name: 'Acme',
    channel: '#builds',
    access_token: 'xoxb-access',
    refresh_token: 'xoxe-refresh',
    token_expires_at: '2030-01-01T00:00:00.000Z',
  },
  issue_tracker: {
    workspace_id: 'W0',
    workspace_name: 'Acme',
    team_id: 'ENG',
    access_token: 'lin-access',
    refresh_token: 'lin-refresh',
    token_expires_at: '2030-01-01T00:00:00.000Z',
  },
}

let org: TestOrganization
let admin: TestUser
beforeAll(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
  for (const feature of ['audit_log', 'event_log_api', 'include_build_meta_data', 'tracestate'] as const) {
    await withFeature(app, org, feature)
  }
})

/** By REST, or as the web page would store it. */
async function make(id: ProviderId, settings: Record<string, unknown>): Promise<string> {
  if (providers[id].madeBy === 'rest') {
    const body = { provider: id, settings }
    const answer = await app.request('POST', `${org.path}/services`, { token: admin.token, body })
    if (answer.status !== 201) throw new Error(answer.text)
    return String(answer.body.id)
  }
  return aConnectedService(app, org, id, settings)
}

async function kept(id: string): Promise<unknown> {
  const row = await app.db
    .selectFrom('notification_services')
    .select(['settings', 'secrets_sealed', 'secrets_key_id'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const { settings, secrets_sealed: sealed, secrets_key_id: keyId } = row
  return {
    ...(settings as object),
    ...(sealed && keyId ? (JSON.parse(app.ctx.keys.open(sealed, keyId)) as object) : {}),
  }
}

describe.each(providerIds)('the provider %s', (id) => {
  it('has a value for every one of its settings in this test', () => {
    expect(Object.keys(whole[id]).sort()).toEqual(Object.keys(providers[id].fields).sort())
  })

  it('keeps all settings when a response is sent back as an update', async () => {
    const service = await make(id, whole[id])
    expect(await kept(service)).toEqual(whole[id])
    const path = `${org.path}/services/${service}`
    const got = await app.request('GET', path, { token: admin.token })
    expect(got.status).toBe(200)
    for (const body of [got.body, { settings: got.body.settings }, { provider: id }]) {
      const answer = await app.request('PATCH', path, { token: admin.token, body })
      expect([answer.status, answer.body]).toEqual([200, got.body])
      expect(await kept(service)).toEqual(whole[id])
    }
  })

  it('shows each setting as its rule says', async () => {
    const got = await app.request('GET', `${org.path}/services/${await make(id, whole[id])}`, {
      token: admin.token,
    })
    const shownAs = (key: string, how: Field['shown']) => {
      const value = whole[id][key]
      if (how === 'never') return []
      return [[key, how === 'masked' ? String(value).replace(/.(?=.{4})/gs, 'X') : value]]
    }
    const expected = Object.entries(providers[id].fields).flatMap(([key, { shown }]) => shownAs(key, shown))
    expect(got.body.settings).toEqual(Object.fromEntries(expected))
  })

  it('can be disabled, enabled and deleted', async () => {
    const path = `${org.path}/services/${await make(id, whole[id])}`
    const ask = (method: string, verb = '') => app.request(method, path + verb, { token: admin.token })
    expect((await ask('PUT', '/disable')).body.enabled).toBe(false)
    expect((await ask('PUT', '/enable')).body.enabled).toBe(true)
    expect((await ask('DELETE')).status).toBe(204)
  })

  if (providers[id].madeBy !== 'rest') return

  it('is not created with an unknown setting', async () => {
    const body = { provider: id, settings: { ...whole[id], unheard_of: 1 } }
    const answer = await app.request('POST', `${org.path}/services`, { token: admin.token, body })
    expect([answer.status, answer.body.message]).toEqual([
      422,
      `Validation failed: settings.unheard_of is not a setting of the provider ${id}`,
    ])
  })
})

/** Settings that lead to a receiver of this test, with a secret where possible. */
const reaching: Readonly<Record<Exclude<ProviderId, 'event_log_api'>, Record<string, unknown>>> = {
  webhook: { url: receiver.url, token: 'hush-token' },
  chat: { url: `${receiver.url}/hush`, theme: 'text' },
  cloud_event_bus: { cloud_region: 'eu-west-1', cloud_account_id: '123456789012' },
  monitoring_pipeline_visibility: { api_key: 'hush-key', monitoring_site: origin },
  open_telemetry_tracing: { endpoint: origin, headers: { 'x-key': 'hush-header' } },
  chat_workspace: {
    workspace_id: 'T0',
    workspace_name: 'Acme',
    channel: '#builds',
    access_token: 'hush-access',
  },
  issue_tracker: { workspace_id: 'W0', workspace_name: 'Acme', team_id: teamId, access_token: 'hush-access' },
}

describe.each(Object.keys(reaching) as Array<keyof typeof reaching>)('the sender of %s', (id) => {
  it('delivers a failed build, retries with the same id, and records no secrets', async () => {
    site.tokens.add('hush-access')
    isDown = true
    site.answering = (_, response) => {
      if (!isDown) return false
      response.statusCode = 500
      response.end()
      return true
    }
    const service = await make(id, reaching[id])
    const path = `${org.path}/services/${service}`
    const states = { build_failed: true }
    await app.request('PATCH', path, { token: admin.token, body: { build_states: states } })
    const pipeline = await aPipeline(app, org, 'steps: [{command: a}]')
    await runJob(app, await aBuild(app, org, pipeline), 'a', 1)
    // A provider may also get events of jobs; the first one counts.
    const ofBuild = async () => {
      const { list } = await app.request('GET', `${path}/deliveries`, { token: admin.token })
      return list.findLast(({ event }) => String(event) !== 'ping')
    }
    await eventually('a failed attempt', async () => Number((await ofBuild())?.attempts_count ?? 0) > 0)
    isDown = false
    await notifications.passUntil(
      { id: service },
      'it arrives',
      async () => String((await ofBuild())?.state) === 'delivered',
    )
    const found = await app.request('GET', `${path}/deliveries/${(await ofBuild())?.id}`, {
      token: admin.token,
    })
    const attempts = found.body.attempts as unknown as Array<{
      error: string | null
      exchanges: Array<{ response: { status: number } | null }>
    }>
    expect(attempts[0]).toMatchObject({ error: expect.stringContaining('500') })
    expect(attempts[0]?.exchanges[0]?.response?.status).toBe(500)
    expect(attempts.at(-1)).toMatchObject({ error: null })
    expect(attempts.at(-1)?.exchanges.at(-1)?.response?.status).toBe(200)
    expect(found.text).not.toMatch(/hush-|secret-of-the-cloud/)
    await app.request('DELETE', path, { token: admin.token })
  })

  it('can be tested, and records the result', async () => {
    site.tokens.add('hush-access')
    site.answering = null
    isDown = false
    const service = await make(id, reaching[id])
    const path = `${org.path}/services/${service}`
    const answer = await app.request('POST', `${path}/test`, { token: admin.token })
    expect([answer.status, answer.body]).toMatchObject([201, { event: 'ping' }])
    await notifications.untilDelivered({ id: service })
    const found = await app.request('GET', `${path}/deliveries/${answer.body.id}`, { token: admin.token })
    expect(found.body).toMatchObject({ state: 'delivered', attempts: [{ error: null }] })
    expect(found.text).not.toMatch(/hush-|secret-of-the-cloud/)
    await app.request('DELETE', path, { token: admin.token })
  })
})

it('every provider but the event log has a sender', () => {
  expect(providerIds.filter((id) => findSender(id) === undefined)).toEqual(['event_log_api'])
})
