// What holds for the settings of every provider, whatever they are.
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../../test/app.ts'
import {
  anAdmin,
  anOrganization,
  withFeature,
  type TestOrganization,
  type TestUser,
} from '../../../test/builders.ts'
import { newId } from '../../lib/ids.ts'
import { providerIds, type ProviderId } from '../names.ts'
import type { Field } from '../provider.ts'
import { providers } from './table.ts'

const app = useApp()

/** All settings of a provider, each with a value of its own. */
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
  for (const feature of ['event_log_api', 'include_build_meta_data', 'tracestate'] as const) {
    await withFeature(app, org, feature, true)
  }
})

/** By REST, or as a web page leaves it behind. */
async function make(id: ProviderId, settings: Record<string, unknown>): Promise<string> {
  if (providers[id].madeBy === 'rest') {
    const body = { provider: id, settings }
    const answer = await app.request('POST', `${org.path}/services`, { token: admin.token, body })
    if (answer.status !== 201) throw new Error(answer.text)
    return String(answer.body.id)
  }
  const pick = (isSecret: boolean) =>
    Object.fromEntries(
      Object.entries(settings).filter(([key]) => (providers[id].fields[key]?.isSecret ?? false) === isSecret),
    )
  const { sealed, keyId } = app.ctx.keys.seal(JSON.stringify(pick(true)))
  const service = newId()
  await app.db
    .insertInto('notification_services')
    .values({
      id: service,
      organization_id: org.id,
      provider: id,
      is_connected: true,
      settings: JSON.stringify(pick(false)),
      secrets_sealed: sealed,
      secrets_key_id: keyId,
    })
    .execute()
  return service
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

  it('keeps everything through a get and an update with what was got', async () => {
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
      const masked = 'X'.repeat(String(value).length - 4) + String(value).slice(-4)
      return [[key, how === 'masked' ? masked : value]]
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

  it.runIf(providers[id].madeBy === 'rest')('is not made with a setting that it does not have', async () => {
    const body = { provider: id, settings: { ...whole[id], unheard_of: 1 } }
    const answer = await app.request('POST', `${org.path}/services`, { token: admin.token, body })
    expect([answer.status, answer.body.message]).toEqual([
      422,
      `Validation failed: settings.unheard_of is not a setting of the provider ${id}`,
    ])
  })
})
