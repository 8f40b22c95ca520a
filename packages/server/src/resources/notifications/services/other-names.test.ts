// Public clients name some providers and their settings otherwise. A service answers with the names it was created with.
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import { anAdmin, anOrganization, type TestOrganization, type TestUser } from '../../../../test/builders.ts'

const app = useApp()

let org: TestOrganization
let admin: TestUser
beforeAll(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
})

const ask = (method: string, path: string, body?: object) =>
  app.request(method, `${org.path}/services${path}`, { token: admin.token, body })

describe('a service of a provider that was named otherwise', () => {
  it.each([
    [
      'aws_event_bridge',
      'cloud_event_bus',
      { aws_region: 'eu-west-1', aws_account_id: '123456789012' },
      { aws_region: 'eu-west-1', aws_account_id: 'XXXXXXXX9012', include_audit_events: false },
      { cloud_region: 'eu-west-1', include_audit_events: false },
    ],
    [
      'datadog_pipeline_visibility',
      'monitoring_pipeline_visibility',
      { api_key: '0123456789abcdef', datadog_site: 'datadoghq.eu', datadog_tags: 'team:web' },
      { api_key: 'XXXXXXXXXXXXcdef', datadog_site: 'datadoghq.eu', datadog_tags: 'team:web' },
      { monitoring_site: 'datadoghq.eu', monitoring_tags: 'team:web' },
    ],
    ['slack', 'chat', { url: 'https://hooks.example.com/x' }, { theme: 'text' }, { theme: 'text' }],
  ])('%s is shown as it was created, and stored as %s', async (name, own, settings, shown, stored) => {
    const made = await ask('POST', '', { provider: name, settings })
    expect([made.status, made.body.provider?.id, made.body.settings]).toEqual([201, name, shown])
    const row = await app.db
      .selectFrom('notification_services')
      .select(['provider', 'settings'])
      .where('id', '=', String(made.body.id))
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({ provider: own, settings: stored })
    const path = `/${String(made.body.id)}`
    expect((await ask('GET', path)).body).toEqual(made.body)
    // What was shown may be sent back, and either name of the provider.
    for (const provider of [{ id: name }, own]) {
      const same = await ask('PATCH', path, { ...made.body, provider, description: 'Deploys' })
      expect([same.status, same.body]).toEqual([200, { ...made.body, description: 'Deploys' }])
    }
    expect(await ask('PATCH', path, { provider: 'webhook' })).toMatchObject({
      status: 422,
      body: { message: `Validation failed: provider cannot be changed; it is ${name}` },
    })
  })

  it('has errors in the words it was created with', async () => {
    const body = { provider: 'aws_event_bridge', settings: { aws_region: 'eu-west-1' } }
    expect((await ask('POST', '', body)).body).toEqual({
      message: 'Validation failed: settings.aws_account_id is required',
    })
    const own = { ...body, settings: { cloud_region: 'eu-west-1' } }
    expect((await ask('POST', '', own)).body).toEqual({
      message: 'Validation failed: settings.cloud_region is not a setting of the provider aws_event_bridge',
    })
  })

  it.each(['slack_workspace', 'linear'])('%s is connected through the pages', async (name) => {
    expect((await ask('POST', '', { provider: name })).body.message).toContain(
      `provider ${name} cannot be created here; connect it through the web interface`,
    )
  })
})
