import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../../../test/app.ts'
import { aCluster, aMember, anAdmin, anOrganization, auditTrail } from '../../../../test/builders.ts'

const app = useApp()

async function aPlace() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const path = `${org.path}/pipeline-settings`
  const ask = (method: string, below = '', body?: object) =>
    app.request(method, `${path}${below}`, { token: admin.token, body })
  return { org, admin, path, ask }
}

const off = { enabled: false, enabled_at: null, enabled_by: null }

describe('GET /v2/organizations/{org.slug}/pipeline-settings', () => {
  it('answers everything unset at first', async () => {
    const { path, ask } = await aPlace()
    const answer = await ask('GET')
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      url: `${baseUrl}${path}`,
      default_branch: null,
      default_cluster_id: null,
      default_timeout_in_minutes: null,
      maximum_timeout_in_minutes: null,
      scheduled_job_expiry_in_minutes: null,
      currency: 'USD',
      hosted_agents_terminal_access: off,
      public_pipeline_creation: off,
      advanced_queue_metrics: { ...off, disable_supported: false },
      build_exports: {
        available: true,
        enabled: false,
        location: null,
        strategy_id: null,
        supported_strategies: ['s3', 'gcs'],
      },
    })
  })

  it('is for administrators', async () => {
    const { org, path } = await aPlace()
    const { token } = await aMember(app, org)
    expect((await app.request('GET', path, { token })).status).toBe(403)
    expect((await app.request('PATCH', path, { token, body: {} })).status).toBe(403)
  })
})

describe('PATCH /v2/organizations/{org.slug}/pipeline-settings', () => {
  it('changes what is given, answers the whole, and audits what changed', async () => {
    const { org, admin, ask } = await aPlace()
    const cluster = await aCluster(app, org, admin)
    const given = { default_branch: 'trunk', default_cluster_id: cluster.id, maximum_timeout_in_minutes: 60 }
    expect((await ask('PATCH', '', given)).body).toMatchObject(given)
    expect((await ask('PATCH', '', { default_timeout_in_minutes: 60 })).body).toMatchObject({
      ...given,
      default_timeout_in_minutes: 60,
    })
    expect((await ask('PATCH', '', { default_branch: '', default_cluster_id: null })).body).toMatchObject({
      default_branch: null,
      default_cluster_id: null,
    })
    await ask('PATCH', '', { default_branch: null })
    const events = await auditTrail(app, org, 'ORGANIZATION_UPDATED')
    expect(events.map(({ data }) => data)).toEqual([
      {
        ...given,
        previous: { default_branch: null, default_cluster_id: null, maximum_timeout_in_minutes: null },
      },
      { default_timeout_in_minutes: 60, previous: { default_timeout_in_minutes: null } },
      {
        default_branch: null,
        default_cluster_id: null,
        previous: { default_branch: 'trunk', default_cluster_id: cluster.id },
      },
    ])
  })

  it('loses nothing when two change at once', async () => {
    const { ask } = await aPlace()
    await Promise.all([
      ask('PATCH', '', { default_branch: 'trunk' }),
      ask('PATCH', '', { scheduled_job_expiry_in_minutes: 600 }),
      ask('PUT', '/public-pipelines'),
    ])
    expect((await ask('GET')).body).toMatchObject({
      default_branch: 'trunk',
      scheduled_job_expiry_in_minutes: 600,
      public_pipeline_creation: { enabled: true },
    })
  })

  it('does not change settings that have their own endpoints', async () => {
    const { ask } = await aPlace()
    const body = { public_pipelines_enabled_at: '2026-01-01T00:00:00Z', build_export_location: 'x' }
    expect((await ask('PATCH', '', body)).body).toMatchObject({
      public_pipeline_creation: off,
      build_exports: { location: null },
    })
  })

  it.each([
    [{ default_timeout_in_minutes: 0 }, 'default_timeout_in_minutes must be at least 1'],
    [{ maximum_timeout_in_minutes: '60' }, 'maximum_timeout_in_minutes must be an integer or null'],
    [
      { default_timeout_in_minutes: 61, maximum_timeout_in_minutes: 60 },
      'default_timeout_in_minutes must not exceed maximum_timeout_in_minutes',
    ],
    [{ default_cluster_id: 'x' }, 'default_cluster_id must be the id of a cluster of this organization'],
  ])('answers 422 to %o', async (body, reason) => {
    const { ask } = await aPlace()
    const answer = await ask('PATCH', '', body)
    expect([answer.status, answer.body]).toEqual([422, { message: `Validation failed: ${reason}` }])
  })

  it('answers 422 to a cluster of another organization', async () => {
    const [mine, theirs] = [await aPlace(), await aPlace()]
    const cluster = await aCluster(app, theirs.org, theirs.admin)
    expect((await mine.ask('PATCH', '', { default_cluster_id: cluster.id })).status).toBe(422)
  })
})

describe.each([
  ['hosted-agents-ssh', 'hosted_agents_terminal_access'],
  ['public-pipelines', 'public_pipeline_creation'],
])('/v2/organizations/{org.slug}/pipeline-settings/%s', (name, key) => {
  it('is turned on and off, any number of times, and shows who turned it on', async () => {
    const { org, admin, ask } = await aPlace()
    const first = await ask('PUT', `/${name}`)
    expect(first.status).toBe(200)
    expect(first.body[key]).toEqual({
      enabled: true,
      enabled_at: expect.any(String),
      enabled_by: { id: admin.id, name: admin.name },
    })
    expect((await ask('PUT', `/${name}`)).body).toEqual(first.body)
    const gone = await ask('DELETE', `/${name}`)
    expect([gone.status, gone.body[key]]).toEqual([200, off])
    expect((await ask('DELETE', `/${name}`)).status).toBe(200)
    expect(await auditTrail(app, org, 'ORGANIZATION_UPDATED')).toHaveLength(2)
  })
})

describe('PUT /v2/organizations/{org.slug}/pipeline-settings/advanced-queue-metrics', () => {
  it('turns them on for good', async () => {
    const { ask } = await aPlace()
    const answer = await ask('PUT', '/advanced-queue-metrics')
    expect(answer.body.advanced_queue_metrics).toMatchObject({ enabled: true, disable_supported: false })
    expect((await ask('DELETE', '/advanced-queue-metrics')).status).toBe(405)
  })
})

describe('/v2/organizations/{org.slug}/pipeline-settings/build-export', () => {
  it('is set and unset, with an audit event of its own', async () => {
    const { org, ask } = await aPlace()
    const set = await ask('PUT', '/build-export', { location: 'acme-builds', strategy_id: 's3' })
    expect(set.body.build_exports).toMatchObject({
      enabled: true,
      location: 'acme-builds',
      strategy_id: 's3',
    })
    const unset = await ask('DELETE', '/build-export')
    expect([unset.status, unset.body.build_exports]).toMatchObject([200, { enabled: false, location: null }])
    expect(await auditTrail(app, org, 'ORGANIZATION_BUILD_EXPORT_UPDATED')).toHaveLength(2)
  })

  it.each([
    [{ location: 'x' }, 'strategy_id is required'],
    [{ location: ' ', strategy_id: 's3' }, 'location must not be blank'],
    [{ location: 'x', strategy_id: 'ftp' }, 'strategy_id must be "s3" or "gcs"'],
  ])('answers 422 to %o', async (body, reason) => {
    const { ask } = await aPlace()
    const answer = await ask('PUT', '/build-export', body)
    expect([answer.status, answer.body]).toEqual([422, { message: `Validation failed: ${reason}` }])
  })
})
