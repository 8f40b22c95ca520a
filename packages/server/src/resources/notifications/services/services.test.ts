import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../../../test/app.ts'
import {
  aCluster,
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  aTeam,
  aToken,
  auditTrail,
  withFeature,
  withoutFeature,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { graphqlId, newId } from '../../../lib/ids.ts'

const app = useApp()

const unknownId = '01885682-55a7-44f5-84f3-0402fb452e66'
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

async function anOrg() {
  const org = await anOrganization(app)
  return { org, admin: await anAdmin(app, org) }
}

const url = 'https://hooks.example.com/builds'

const post = (org: TestOrganization, token: string, body: unknown) =>
  app.request('POST', `${org.path}/services`, { token, body })

/** Created over HTTP; returns `{ path, … }` and the response. */
async function aService(org: TestOrganization, admin: TestUser, given: object = {}) {
  const answer = await post(org, admin.token, { provider: 'webhook', settings: { url }, ...given })
  if (answer.status !== 201) throw new Error(`Could not make a service: ${answer.text}`)
  const path = `${org.path}/services/${answer.body.id}`
  const patch = (body: unknown) => app.request('PATCH', path, { token: admin.token, body })
  return { path, id: String(answer.body.id), made: answer.body, patch }
}

/** As the web page stores it: REST cannot create services of OAuth providers. */
async function aConnected(org: TestOrganization, provider: string, settings: object, secrets: object) {
  const id = newId()
  const { sealed, keyId } = app.ctx.keys.seal(JSON.stringify(secrets))
  await app.db
    .insertInto('notification_services')
    .values({
      id,
      organization_id: org.id,
      provider,
      is_connected: true,
      settings: JSON.stringify(settings),
      secrets_sealed: sealed,
      secrets_key_id: keyId,
    })
    .execute()
  return { id, path: `${org.path}/services/${id}` }
}

const secretsOf = async (id: string): Promise<Record<string, unknown>> => {
  const row = await app.db
    .selectFrom('notification_services')
    .select(['secrets_sealed', 'secrets_key_id'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  if (row.secrets_sealed === null || row.secrets_key_id === null) return {}
  return JSON.parse(app.ctx.keys.open(row.secrets_sealed, row.secrets_key_id)) as Record<string, unknown>
}

describe('GET /v2/organizations/{org.slug}/services', () => {
  it('lists services oldest first, in pages that link to each other', async () => {
    const { org, admin } = await anOrg()
    const descriptions = ['a', 'b', 'c']
    for (const description of descriptions) await aService(org, admin, { description })
    const list = (path: string) => app.request('GET', path, { token: admin.token })
    const all = await list(`${org.path}/services`)
    expect(all.list.map(({ description }) => description)).toEqual(descriptions)
    expect(all.body.links).toEqual({ self: `${baseUrl}${org.path}/services?per_page=30` })

    const first = await list(`${org.path}/services?per_page=2`)
    expect(first.list.map(({ description }) => description)).toEqual(['a', 'b'])
    const second = await list(String(first.body.links.next).slice(baseUrl.length))
    expect(second.list.map(({ description }) => description)).toEqual(['c'])
    expect(second.body.links).not.toHaveProperty('next')
    const back = await list(String(second.body.links.prev).slice(baseUrl.length))
    expect(back.list.map(({ description }) => description)).toEqual(['a', 'b'])
    expect(back.headers.get('link')).toContain('rel="next"')
  })

  it.each(['after=x&before=y', 'after=made-up', 'per_page=0', 'per_page=101'])(
    'answers 400 to %s',
    async (query) => {
      const { org, admin } = await anOrg()
      const answer = await app.request('GET', `${org.path}/services?${query}`, { token: admin.token })
      expect(answer.status).toBe(400)
    },
  )

  it('shows only the services of the organization, and refuses cursors of another', async () => {
    const [ours, theirs] = [await anOrg(), await anOrg()]
    for (const _ of [1, 2]) await aService(theirs.org, theirs.admin)
    const list = (path: string, token: string) => app.request('GET', path, { token })
    expect((await list(`${ours.org.path}/services`, ours.admin.token)).list).toEqual([])
    const there = await list(`${theirs.org.path}/services?per_page=1`, theirs.admin.token)
    const cursor = new URL(String(there.body.links.next)).searchParams.get('after')
    expect((await list(`${ours.org.path}/services?after=${cursor}`, ours.admin.token)).status).toBe(400)
  })
})

describe('who may use notification services', () => {
  const operations = ['GET', 'POST', 'PATCH', 'DELETE', 'PUT enable', 'PUT disable'] as const
  const ask = (operation: (typeof operations)[number], path: string, token: string) => {
    const [method = '', verb] = operation.split(' ')
    const target =
      operation === 'POST' ? path.slice(0, path.lastIndexOf('/')) : verb ? `${path}/${verb}` : path
    const body = { POST: { provider: 'webhook', settings: { url } }, PATCH: { description: 'x' } }[method]
    return app.request(method, target, { token, ...(body ? { body } : {}) })
  }

  it.each(operations)(
    '%s is for administrators, until the organization lets all members',
    async (operation) => {
      const { org, admin } = await anOrg()
      const member = await aMember(app, org)
      const { path } = await aService(org, admin)
      const refused = await ask(operation, path, member.token)
      expect([refused.status, refused.body]).toEqual([403, { message: 'Forbidden' }])
      await withFeature(app, org, 'members_manage_notification_services')
      expect((await ask(operation, path, member.token)).status).toBeLessThan(300)
    },
  )

  it.each(operations)('%s needs its scope', async (operation) => {
    const { org, admin } = await anOrg()
    const { path } = await aService(org, admin)
    const [held, needed] =
      operation === 'GET'
        ? ['write_notification_services', 'read_notification_services']
        : ['read_notification_services', 'write_notification_services']
    const token = await aToken(app, admin, { scopes: [held] })
    const answer = await ask(operation, path, token)
    expect([answer.status, answer.body]).toEqual([
      403,
      { message: `Your access token doesn't have the ${needed} scope` },
    ])
  })

  it.each(['GET', 'PATCH', 'DELETE', 'PUT enable', 'PUT disable'] as const)(
    '%s answers 404: no service with that UUID in the organization',
    async (operation) => {
      const [ours, theirs] = [await anOrg(), await anOrg()]
      const foreign = await aService(theirs.org, theirs.admin)
      for (const id of [unknownId, 'x', foreign.id]) {
        const answer = await ask(operation, `${ours.org.path}/services/${id}`, ours.admin.token)
        expect([answer.status, answer.body]).toEqual([404, { message: 'No notification service found' }])
      }
    },
  )
})

describe('POST /v2/organizations/{org.slug}/services', () => {
  it('answers 201 with every field, and with defaults for what was not sent', async () => {
    const { org, admin } = await anOrg()
    const { body, status } = await post(org, admin.token, { provider: 'webhook', settings: { url } })
    const id = String(body.id)
    expect(status).toBe(201)
    expect(body).toEqual({
      id,
      graphql_id: graphqlId('NotificationServiceWebhook', id),
      url: `${baseUrl}${org.path}/services/${id}`,
      provider: { id: 'webhook', name: 'Webhook' },
      description: '',
      enabled: true,
      broken_at: null,
      broken_reason: null,
      scope: 'all',
      scope_uuids: [],
      branch_configuration: '',
      build_states: {
        build_passed: false,
        build_fixed: false,
        build_failed: false,
        build_blocked: false,
        build_canceled: false,
        build_failing: false,
        job_activated: false,
      },
      settings: {
        url,
        token: expect.stringMatching(/^[0-9a-f]{32}$/),
        token_mode: 'token',
        version: 3,
        events: ['build.finished'],
        tls_verify: true,
      },
      created_at: timestamp,
      created_by: expect.objectContaining({ id: admin.id, email: admin.email }),
    })
    const got = await app.request('GET', `${org.path}/services/${id}`, { token: admin.token })
    expect(got.body).toEqual(body)
  })

  it('keeps what was sent', async () => {
    const { org, admin } = await anOrg()
    const sent = {
      provider: 'webhook',
      description: 'Deploys',
      branch_configuration: 'main !release/*',
      build_states: { build_failed: true, job_activated: true, build_passed: false },
      settings: {
        url,
        token: 's3cr3t',
        token_mode: 'signature',
        version: 1,
        events: ['ping', 'job.finished'],
        tls_verify: false,
      },
    }
    const { body } = await post(org, admin.token, sent)
    expect(body).toMatchObject({ ...sent, provider: { id: 'webhook' } })
    expect(body.build_states).toMatchObject({ build_failed: true, job_activated: true, build_passed: false })
  })

  it('takes scopes of pipelines, teams and clusters', async () => {
    const { org, admin } = await anOrg()
    const cluster = await aCluster(app, org, admin)
    const team = await aTeam(app, org, admin)
    const pipelines = [await aPipeline(app, org, 'steps: []'), await aPipeline(app, org, 'steps: []')]
    for (const [scope, ids] of [
      ['some_projects', pipelines.map(({ id }) => id)],
      ['some_teams', [team.id]],
      ['some_clusters', [cluster.id]],
      ['all', []],
    ] as const) {
      const { made } = await aService(org, admin, { scope, scope_uuids: ids })
      expect([made.scope, made.scope_uuids]).toEqual([scope, ids])
    }
  })

  const bad: Array<[string, object, string]> = [
    ['invalid: no provider', {}, 'provider is required'],
    ['unknown: a provider', { provider: 'fax' }, 'provider must be one of webhook, chat,'],
    [
      'unavailable: connected by OAuth',
      { provider: 'chat_workspace' },
      'connect it through the web interface',
    ],
    [
      'unavailable: connected by OAuth',
      { provider: 'issue_tracker' },
      'connect it through the web interface',
    ],
    [
      'unavailable: without its feature',
      { provider: 'event_log_api' },
      'is not available to this organization',
    ],
    [
      'unavailable: a setting without its feature',
      {
        provider: 'cloud_event_bus',
        settings: {
          cloud_region: 'eu-west-1',
          cloud_account_id: '123456789012',
          include_build_meta_data: true,
        },
      },
      'settings.include_build_meta_data is not available',
    ],
    [
      'unavailable: another setting without its feature',
      { provider: 'open_telemetry_tracing', settings: { endpoint: url, tracestate: 'a=b' } },
      'settings.tracestate is not available',
    ],
    ['unknown: a field', { colour: 'red' }, 'colour is not a field of a notification service'],
    [
      'unknown: a setting',
      { settings: { url, colour: 'red' } },
      'settings.colour is not a setting of the provider webhook',
    ],
    [
      'unknown: a setting that every object has',
      { settings: { url, constructor: 'x' } },
      'settings.constructor is not a setting',
    ],
    [
      'unknown: a state',
      { build_states: { build_exploded: true } },
      'build_states.build_exploded is not a state',
    ],
    ['unknown: an event', { settings: { url, events: ['build.exploded'] } }, 'settings.events[0] must be'],
    ['read-only: id', { id: unknownId }, 'id is read-only'],
    ['read-only: enabled', { enabled: false }, 'use the enable and disable operations'],
    ['read-only: created_at', { created_at: '2026-01-01T00:00:00.000Z' }, 'created_at is read-only'],
    ['invalid: no settings', { settings: {} }, 'settings.url is required'],
    ['invalid: a URL', { settings: { url: 'nowhere' } }, 'settings.url must be an http or https URL'],
    ['invalid: a URL of another kind', { settings: { url: 'file:///etc/passwd' } }, 'settings.url must be'],
    [
      'invalid: a URL with a user name',
      { settings: { url: 'https://a:b@example.com/' } },
      'without a user name',
    ],
    [
      'invalid: a token mode',
      { settings: { url, token_mode: 'none' } },
      'settings.token_mode must be "token" or "signature"',
    ],
    [
      'invalid: a token that is no header',
      { settings: { url, token: 'a\nb' } },
      'settings.token must be printable',
    ],
    ['invalid: version 0', { settings: { url, version: 0 } }, 'settings.version must be at least 1'],
    ['invalid: version 4', { settings: { url, version: 4 } }, 'settings.version must be at most 3'],
    ['invalid: version in words', { settings: { url, version: '3' } }, 'settings.version must be an integer'],
    ['invalid: tls_verify', { settings: { url, tls_verify: 'no' } }, 'settings.tls_verify must be a boolean'],
    [
      'invalid: a state',
      { build_states: { build_failed: 'yes' } },
      'build_states.build_failed must be a boolean',
    ],
    ['invalid: a scope', { scope: 'some_people' }, 'scope must be'],
    [
      'invalid: a scope without ids',
      { scope: 'some_projects' },
      'scope_uuids must name at least one of the pipelines',
    ],
    [
      'invalid: ids without a scope',
      { scope_uuids: [unknownId] },
      'scope_uuids must be left out when scope is all',
    ],
    [
      'invalid: ids of nothing',
      { scope: 'some_teams', scope_uuids: [unknownId] },
      'none of the organization’s teams',
    ],
    [
      'invalid: ids that are none',
      { scope: 'some_clusters', scope_uuids: ['x'] },
      'none of the organization’s clusters',
    ],
    [
      'invalid: 11 digits',
      {
        provider: 'cloud_event_bus',
        settings: { cloud_region: 'eu-west-1', cloud_account_id: '12345678901' },
      },
      'settings.cloud_account_id must be 12 digits',
    ],
    [
      'invalid: no region',
      { provider: 'cloud_event_bus', settings: { cloud_account_id: '123456789012' } },
      'settings.cloud_region is required',
    ],
    [
      'invalid: no API key',
      { provider: 'monitoring_pipeline_visibility', settings: {} },
      'settings.api_key is required',
    ],
    [
      'invalid: no endpoint',
      { provider: 'open_telemetry_tracing', settings: {} },
      'settings.endpoint is required',
    ],
    [
      'invalid: a map value that is no string',
      { provider: 'open_telemetry_tracing', settings: { endpoint: url, headers: { a: 1 } } },
      'settings.headers.a must be a string',
    ],
    [
      'invalid: an attribute that is no string',
      {
        provider: 'open_telemetry_tracing',
        settings: { endpoint: url, resource_attributes: { a: { b: 'c' } } },
      },
      'settings.resource_attributes.a must be a string',
    ],
    [
      'invalid: a header that cannot be sent',
      { provider: 'open_telemetry_tracing', settings: { endpoint: url, headers: { 'a b': 'c' } } },
      'cannot be sent as a header',
    ],
    ['invalid: a theme', { provider: 'chat', settings: { url, theme: 'dark' } }, 'settings.theme must be'],
  ]

  it.each(bad)('Create notification service 422: %s', async (name, body, reason) => {
    const { org, admin } = await anOrg()
    const whole = name.includes('no provider') ? body : { provider: 'webhook', settings: { url }, ...body }
    const answer = await post(org, admin.token, whole)
    expect(answer.status).toBe(422)
    expect(answer.body.message).toMatch(/^Validation failed: /)
    expect(answer.body.message).toContain(reason)
    expect((await app.request('GET', `${org.path}/services`, { token: admin.token })).list).toEqual([])
  })

  it('Create notification service 422: pipelines, teams and clusters of another organization', async () => {
    const { org, admin } = await anOrg()
    const other = await anOrg()
    const cluster = await aCluster(app, other.org, other.admin)
    const team = await aTeam(app, other.org, other.admin)
    const pipeline = await aPipeline(app, other.org, 'steps: []')
    for (const [scope, { id }] of [
      ['some_clusters', cluster],
      ['some_teams', team],
      ['some_projects', pipeline],
    ] as const) {
      const body = { provider: 'webhook', settings: { url }, scope, scope_uuids: [id] }
      expect((await post(org, admin.token, body)).status).toBe(422)
    }
  })

  it('takes providers and settings once the organization has the feature', async () => {
    const { org, admin } = await anOrg()
    for (const feature of ['event_log_api', 'include_build_meta_data', 'tracestate'] as const) {
      await withFeature(app, org, feature)
    }
    const log = await aService(org, admin, {
      provider: 'event_log_api',
      settings: { events: ['job.finished'] },
    })
    expect(log.made.settings).toEqual({ events: ['job.finished'] })
    const bus = await aService(org, admin, {
      provider: 'cloud_event_bus',
      settings: {
        cloud_region: 'eu-west-1',
        cloud_account_id: '123456789012',
        include_build_meta_data: true,
      },
    })
    expect(bus.made.settings).toMatchObject({ include_build_meta_data: true })
    const traces = await aService(org, admin, {
      provider: 'open_telemetry_tracing',
      settings: { endpoint: url, tracestate: 'vendor=value' },
    })
    expect(traces.made.settings).toMatchObject({ tracestate: 'vendor=value' })
    await withoutFeature(app, org, 'tracestate')
    const got = await app.request('GET', traces.path, { token: admin.token })
    expect(got.body.settings).not.toHaveProperty('tracestate')
  })

  it('writes NOTIFICATION_SERVICE_CREATED, without secrets', async () => {
    const { org, admin } = await anOrg()
    const { id } = await aService(org, admin, {
      description: 'Deploys',
      settings: { url, token: 'hush-hush' },
    })
    const events = await auditTrail(app, org, 'NOTIFICATION_SERVICE_CREATED')
    expect(events).toMatchObject([
      { subject: { type: 'NotificationService', uuid: id, name: 'Deploys' }, data: { provider: 'webhook' } },
    ])
    expect(JSON.stringify(events)).not.toContain('hush-hush')
  })
})

describe('secrets', () => {
  const provided: Array<[string, object, object, string]> = [
    [
      'webhook',
      { url, token: 'a-long-webhook-token' },
      { token: 'a-long-webhook-token' },
      'a-long-webhook-token',
    ],
    ['chat', { url: 'https://chat.example.com/T0/hush' }, { theme: 'text' }, 'T0/hush'],
    [
      'cloud_event_bus',
      { cloud_region: 'eu-west-1', cloud_account_id: '123456789012' },
      { cloud_account_id: 'XXXXXXXX9012' },
      '123456789012',
    ],
    [
      'monitoring_pipeline_visibility',
      { api_key: '0123456789abcdef' },
      { api_key: 'XXXXXXXXXXXXcdef', monitoring_site: null, monitoring_tags: null },
      '0123456789ab',
    ],
    [
      'open_telemetry_tracing',
      { endpoint: url, headers: { authorization: 'Bearer hush' }, resource_attributes: { team: 'a' } },
      { endpoint: url, service_name: null, resource_attributes: { team: 'a' } },
      'Bearer hush',
    ],
  ]

  it.each(provided)(
    'of %s are shown as the spec says, and lie sealed in the database',
    async (provider, settings, shown, secret) => {
      const { org, admin } = await anOrg()
      const { id, made, path } = await aService(org, admin, { provider, settings })
      expect(made.settings).toMatchObject(shown)
      const got = await app.request('GET', path, { token: admin.token })
      expect(got.text.includes(secret)).toBe(provider === 'webhook')
      const row = await app.db.selectFrom('notification_services').selectAll().where('id', '=', id).execute()
      expect(JSON.stringify(row)).not.toContain(secret)
      expect(JSON.stringify(await secretsOf(id))).toContain(secret)
    },
  )

  it('of OAuth providers are omitted', async () => {
    const { org, admin } = await anOrg()
    const { path } = await aConnected(
      org,
      'chat_workspace',
      { workspace_id: 'T1', workspace_name: 'Acme', channel: '#builds', token_expires_at: null },
      { access_token: 'at-1', refresh_token: 'rt-1' },
    )
    const got = await app.request('GET', path, { token: admin.token })
    expect(got.status).toBe(200)
    expect(got.body.settings).toEqual({
      workspace_id: 'T1',
      workspace_name: 'Acme',
      channel: '#builds',
      token_expires_at: null,
    })
    expect(got.text).not.toMatch(/at-1|rt-1|access_token|refresh_token/)
  })
})

describe('PATCH /v2/organizations/{org.slug}/services/{uuid}', () => {
  it.each(['PATCH', 'PUT'])('%s changes only the fields that it sends', async (method) => {
    const { org, admin } = await anOrg()
    const { path, made } = await aService(org, admin, {
      description: 'Before',
      build_states: { build_failed: true },
    })
    const change = (body: object) => app.request(method, path, { token: admin.token, body })
    expect((await change({})).body).toEqual(made)
    expect((await change({ description: 'After' })).body).toEqual({ ...made, description: 'After' })
    const { body } = await change({ build_states: { build_fixed: true }, settings: { tls_verify: false } })
    expect(body).toMatchObject({
      description: 'After',
      build_states: { ...made.build_states, build_fixed: true },
      settings: { ...made.settings, tls_verify: false },
    })
    expect((await change({ description: null, branch_configuration: null })).body).toMatchObject({
      description: '',
      branch_configuration: '',
    })
  })

  it('changes the scope with or without its ids', async () => {
    const { org, admin } = await anOrg()
    const pipeline = await aPipeline(app, org, 'steps: []')
    const cluster = await aCluster(app, org, admin)
    const { patch } = await aService(org, admin, { scope: 'some_projects', scope_uuids: [pipeline.id] })
    expect((await patch({ scope: 'some_projects' })).body.scope_uuids).toEqual([pipeline.id])
    expect((await patch({ scope: 'some_clusters' })).status).toBe(422)
    const moved = await patch({ scope: 'some_clusters', scope_uuids: [cluster.id] })
    expect([moved.body.scope, moved.body.scope_uuids]).toEqual(['some_clusters', [cluster.id]])
    const all = await patch({ scope: 'all' })
    expect([all.body.scope, all.body.scope_uuids]).toEqual(['all', []])
  })

  it('accepts a scope whose pipelines are all deleted', async () => {
    const { org, admin } = await anOrg()
    const pipeline = await aPipeline(app, org, 'steps: []')
    const { path, patch } = await aService(org, admin, { scope: 'some_projects', scope_uuids: [pipeline.id] })
    await app.request('DELETE', pipeline.path, { token: admin.token })
    const got = await app.request('GET', path, { token: admin.token })
    expect(got.body.scope_uuids).toEqual([])
    const answer = await patch(got.body)
    expect([answer.status, answer.body]).toEqual([200, got.body])
  })

  it('rule 1: takes the provider that the service has, and no other', async () => {
    const { org, admin } = await anOrg()
    const { patch } = await aService(org, admin)
    expect((await patch({ provider: 'webhook' })).status).toBe(200)
    expect((await patch({ provider: { id: 'webhook', name: 'Webhook' } })).status).toBe(200)
    for (const provider of ['chat', 'fax', { id: 'chat' }]) {
      const answer = await patch({ provider })
      expect([answer.status, answer.body]).toEqual([
        422,
        { message: 'Validation failed: provider cannot be changed; it is webhook' },
      ])
    }
  })

  it('rule 2: region and account of the cloud event bus are set at creation', async () => {
    const { org, admin } = await anOrg()
    const settings = { cloud_region: 'eu-west-1', cloud_account_id: '123456789012' }
    const { patch } = await aService(org, admin, { provider: 'cloud_event_bus', settings })
    for (const change of [{ cloud_region: 'us-east-1' }, { cloud_account_id: '999999999999' }]) {
      const answer = await patch({ settings: change })
      expect(answer.status).toBe(422)
      expect(answer.body.message).toMatch(/settings\.cloud_\w+ can only be set at creation$/)
    }
    expect((await patch({ settings })).status).toBe(200)
  })

  it('rule 3: the version of a webhook may be raised to the latest, never lowered', async () => {
    const { org, admin } = await anOrg()
    const { patch } = await aService(org, admin, { settings: { url, version: 1 } })
    const set = async (version: number) => {
      const answer = await patch({ settings: { version } })
      return [answer.status, answer.body.settings?.version]
    }
    expect(await set(1)).toEqual([200, 1])
    expect(await set(3)).toEqual([200, 3])
    expect(await set(2)).toEqual([422, undefined])
    expect(await set(4)).toEqual([422, undefined])
    expect((await patch({ settings: { version: 2 } })).body.message).toContain(
      'may be raised to 3, never lowered',
    )
  })

  it.each(['chat_workspace', 'issue_tracker'])(
    'rule 4: OAuth credentials and metadata of %s cannot be changed; the rest can',
    async (provider) => {
      const { org, admin } = await anOrg()
      const own = provider === 'chat_workspace' ? 'channel' : 'team_id'
      const settings = { workspace_id: 'W1', workspace_name: 'Acme', [own]: 'first', token_expires_at: null }
      const secrets = { access_token: 'at-1', refresh_token: 'rt-1' }
      const { id, path } = await aConnected(org, provider, settings, secrets)
      const patch = (change: object) =>
        app.request('PATCH', path, { token: admin.token, body: { settings: change } })
      for (const key of [
        'workspace_id',
        'workspace_name',
        'access_token',
        'refresh_token',
        'token_expires_at',
      ]) {
        const answer = await patch({ [key]: 'other' })
        expect(answer.status).toBe(422)
        expect(answer.body.message).toContain(`settings.${key} is`)
      }
      expect((await patch({ workspace_id: 'W1', access_token: 'at-1' })).status).toBe(200)
      expect((await patch({ [own]: 'second' })).body.settings).toEqual({ ...settings, [own]: 'second' })
      expect(await secretsOf(id)).toEqual(secrets)
    },
  )

  it('rule 5: a chat webhook URL that was connected through the web interface cannot be changed', async () => {
    const { org, admin } = await anOrg()
    const [first, second] = ['https://chat.example.com/one', 'https://chat.example.com/two']
    const plain = await aService(org, admin, { provider: 'chat', settings: { url: first } })
    expect((await plain.patch({ settings: { url: second } })).status).toBe(200)
    expect(await secretsOf(plain.id)).toEqual({ url: second })

    const { id, path } = await aConnected(org, 'chat', { theme: 'text' }, { url: first })
    const patch = (settings: object) => app.request('PATCH', path, { token: admin.token, body: { settings } })
    const refused = await patch({ url: second })
    expect(refused.status).toBe(422)
    expect(refused.body.message).toContain('was connected through the web interface and cannot be changed')
    expect((await patch({ url: first })).status).toBe(200)
    expect((await patch({ theme: 'emoji' })).body.settings).toEqual({ theme: 'emoji' })
    expect(await secretsOf(id)).toEqual({ url: first })
  })

  it('rule 6: a masked value sent back keeps the secret, a new one replaces it', async () => {
    const { org, admin } = await anOrg()
    const { id, patch, made } = await aService(org, admin, {
      provider: 'monitoring_pipeline_visibility',
      settings: { api_key: '0123456789abcdef' },
    })
    expect((await patch({ settings: { api_key: made.settings.api_key } })).status).toBe(200)
    expect(await secretsOf(id)).toEqual({ api_key: '0123456789abcdef' })
    const changed = await patch({ settings: { api_key: 'fedcba9876543210' } })
    expect(changed.body.settings).toMatchObject({ api_key: 'XXXXXXXXXXXX3210' })
    expect(await secretsOf(id)).toEqual({ api_key: 'fedcba9876543210' })
  })

  it.each([
    ['a read-only field that differs', { created_at: '2020-01-01T00:00:00.000Z' }, 'created_at is read-only'],
    ['enabled, which has its own operations', { enabled: false }, 'use the enable and disable operations'],
    ['an unknown field', { colour: 'red' }, 'colour is not a field'],
    ['an unknown setting', { settings: { colour: 'red' } }, 'settings.colour is not a setting'],
    ['a required setting that is null', { settings: { url: null } }, 'settings.url must not be null'],
    ['a bad value', { settings: { url: 'nowhere' } }, 'settings.url must be an http or https URL'],
  ])('Update notification service 422: %s', async (_, body, reason) => {
    const { org, admin } = await anOrg()
    const { path, patch, made } = await aService(org, admin)
    const answer = await patch(body)
    expect(answer.status).toBe(422)
    expect(answer.body.message).toContain(reason)
    expect((await app.request('GET', path, { token: admin.token })).body).toEqual(made)
  })

  it('writes NOTIFICATION_SERVICE_UPDATED with what changed, and names no secret', async () => {
    const { org, admin } = await anOrg()
    const { patch, made } = await aService(org, admin)
    await patch({})
    await patch(made)
    await patch({ description: 'New' })
    await patch({ settings: { token: 'hush-hush' } })
    const events = await auditTrail(app, org, 'NOTIFICATION_SERVICE_UPDATED')
    expect(events.map(({ data }) => data)).toEqual([
      { description: 'New', previous: { description: '' } },
      { settings: 'a secret setting' },
    ])
  })

  it('loses neither of two concurrent updates', async () => {
    const { org, admin } = await anOrg()
    const { path, patch } = await aService(org, admin)
    await Promise.all([
      patch({ description: 'D' }),
      patch({ branch_configuration: 'main' }),
      patch({ settings: { tls_verify: false } }),
      patch({ settings: { token: 'other-token' } }),
    ])
    expect((await app.request('GET', path, { token: admin.token })).body).toMatchObject({
      description: 'D',
      branch_configuration: 'main',
      settings: { tls_verify: false, token: 'other-token' },
    })
  })
})

describe('DELETE /v2/organizations/{org.slug}/services/{uuid}', () => {
  it('answers 204, once, and deletes its deliveries', async () => {
    const { org, admin } = await anOrg()
    const { id, path } = await aService(org, admin)
    const answers = await Promise.all(
      [1, 2, 3].map(() => app.request('DELETE', path, { token: admin.token })),
    )
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([204, 404, 404])
    expect((await app.request('GET', path, { token: admin.token })).status).toBe(404)
    const left = app.db.selectFrom('notification_deliveries').select('id').where('service_id', '=', id)
    expect(await left.execute()).toEqual([])
    expect(await auditTrail(app, org, 'NOTIFICATION_SERVICE_DELETED')).toMatchObject([
      { subject: { type: 'NotificationService', uuid: id }, data: {} },
    ])
  })
})

describe('PUT /v2/organizations/{org.slug}/services/{uuid}/enable and /disable', () => {
  it('set the flag, with one audit event each', async () => {
    const { org, admin } = await anOrg()
    const { id, path, made } = await aService(org, admin)
    const put = (verb: string) => app.request('PUT', `${path}/${verb}`, { token: admin.token })
    expect((await put('disable')).body).toEqual({ ...made, enabled: false })
    expect((await put('disable')).body.enabled).toBe(false)
    expect((await app.request('GET', path, { token: admin.token })).body.enabled).toBe(false)
    expect((await put('enable')).body).toEqual(made)
    expect((await put('enable')).body.enabled).toBe(true)
    for (const type of ['NOTIFICATION_SERVICE_DISABLED', 'NOTIFICATION_SERVICE_ENABLED'] as const) {
      expect(await auditTrail(app, org, type)).toMatchObject([{ subject: { uuid: id } }])
    }
  })

  it('enable clears a broken state', async () => {
    const { org, admin } = await anOrg()
    const { id, path, made } = await aService(org, admin)
    await app.db
      .updateTable('notification_services')
      .set({ broken_at: new Date().toISOString(), broken_reason: 'It was.', dead_letters_in_a_row: 50 })
      .where('id', '=', id)
      .execute()
    const got = await app.request('GET', path, { token: admin.token })
    expect(got.body).toMatchObject({ enabled: false, broken_at: timestamp, broken_reason: 'It was.' })
    expect((await app.request('PUT', `${path}/enable`, { token: admin.token })).body).toEqual(made)
  })
})
