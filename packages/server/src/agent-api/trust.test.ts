import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { aRunningJob, anAgent, anAgentWorld, type TestRun } from '../../test/agent-client.ts'
import { aPipeline } from '../../test/builders.ts'
import { aBuild } from '../../test/runs.ts'

const app = useApp()

const fork = { id: '7', base: 'main', repository: null, labels: [], draft: false, fork: true }

async function aJob() {
  const { run, world } = await aRunningJob(app)
  const body = { key: 'DEPLOY_KEY', value: 'x' }
  await app.request('POST', `${world.cluster.path}/secrets`, { token: world.admin.token, body })
  const { build_id: buildId, pipeline_id: pipelineId } = await app.db
    .selectFrom('jobs')
    .select(['build_id', 'pipeline_id'])
    .where('id', '=', run.id)
    .executeTakeFirstOrThrow()
  return { run, world, buildId, pipelineId }
}

const change = (id: string, set: { pull_request?: object; triggered_from?: object; rebuilt_from?: object }) =>
  app.db
    .updateTable('builds')
    .set(Object.fromEntries(Object.entries(set).map(([key, value]) => [key, JSON.stringify(value)])))
    .where('id', '=', id)
    .execute()

const answers = async (run: TestRun) => [
  (await run.call('GET', `jobs/${run.id}/secrets?key=DEPLOY_KEY`)).status,
  (await run.call('POST', `jobs/${run.id}/oidc/tokens`, {})).status,
]

describe('a job of a pull request from a fork', () => {
  it('gets neither secrets nor identity tokens, unless trust_pull_request_forks is on', async () => {
    const { run, buildId, pipelineId } = await aJob()
    expect(await answers(run)).toEqual([200, 200])
    await change(buildId, { pull_request: { ...fork, fork: false } })
    expect(await answers(run)).toEqual([200, 200])
    await change(buildId, { pull_request: fork })
    expect(await answers(run)).toEqual([403, 403])
    await app.db
      .updateTable('pipelines')
      .set({ provider_settings: JSON.stringify({ trust_pull_request_forks: true }) })
      .where('id', '=', pipelineId)
      .execute()
    expect(await answers(run)).toEqual([200, 200])
  })

  it('is called so to its agent, which keeps the checkouts of trusted builds from it (abuse case R6)', async () => {
    const world = await anAgentWorld(app)
    const pipeline = await aPipeline(app, world.org, 'steps: [{ command: one }]')
    const accepted = async (pullRequest: typeof fork | null) => {
      await aBuild(app, world.org, pipeline, { pullRequest })
      const run = await (await anAgent(app, world.token)).begin()
      return run.job
    }
    expect(await accepted(null)).not.toHaveProperty('from_fork')
    expect(await accepted({ ...fork, fork: false })).not.toHaveProperty('from_fork')
    expect(await accepted(fork)).toMatchObject({ from_fork: true })
  })

  it('does not get them by way of a build that it triggers, or that is rebuilt', async () => {
    const { run, world, buildId, pipelineId } = await aJob()
    const { id: origin } = await aBuild(app, world.org, { id: pipelineId })
    await change(origin, { pull_request: fork })
    await change(buildId, { triggered_from: { build_id: origin } })
    expect(await answers(run)).toEqual([403, 403])
    await change(buildId, { triggered_from: { build_id: buildId }, rebuilt_from: { id: origin } })
    expect(await answers(run)).toEqual([403, 403])
  })
})

describe('steps that a job of a fork uploads', () => {
  const status = (context: string) => ({ github_commit_status: { context } })
  const chat = { slack: '#general' }
  const campfire = { basecamp_campfire: 'https://example.com/x' }
  const uploaded = {
    notify: [{ email: 'a@example.com' }, status('all')],
    steps: [
      { command: 'one', key: 'mine', notify: [chat, status('one')] },
      { group: 'many', notify: [chat], steps: [{ command: 'two', key: 'other', notify: [campfire] }] },
    ],
  }
  const servicesOf = async (buildId: string) => {
    const build = await app.db
      .selectFrom('builds')
      .select('notify')
      .where('id', '=', buildId)
      .executeTakeFirstOrThrow()
    const steps = await app.db
      .selectFrom('build_steps')
      .select('definition')
      .where('build_id', '=', buildId)
      .execute()
    const entries = [
      build.notify,
      ...steps.map(({ definition }) => Reflect.get(Object(definition), 'notify') ?? []),
    ]
    return (entries.flat() as Array<{ service: string }>).map(({ service }) => service).toSorted()
  }
  const upload = (run: TestRun) =>
    run.call('POST', `jobs/${run.id}/pipelines`, { body: { uuid: randomUUID(), pipeline: uploaded } })

  it('notify only the host of their commit', async () => {
    const own = await aJob()
    expect((await upload(own.run)).status).toBe(200)
    expect(await servicesOf(own.buildId)).toEqual([
      'basecamp_campfire',
      'email',
      'github_commit_status',
      'github_commit_status',
      'slack',
      'slack',
    ])
    const forked = await aJob()
    await change(forked.buildId, { pull_request: fork })
    expect((await upload(forked.run)).status).toBe(200)
    expect(await servicesOf(forked.buildId)).toEqual(['github_commit_status', 'github_commit_status'])
    const update = {
      idempotency_uuid: randomUUID(),
      attribute: 'notify',
      value: '[{"slack":"#general"}]',
    }
    expect(await forked.run.call('PUT', 'steps/mine', { body: update })).toMatchObject({ status: 403 })
    expect(await own.run.call('PUT', 'steps/mine', { body: update })).toMatchObject({ status: 200 })
  })
})

describe('the variables of a pipeline', () => {
  const envOf = async (id: string) =>
    (await app.db.selectFrom('builds').select('stored_env').where('id', '=', id).executeTakeFirstOrThrow())
      .stored_env

  it('stay with the pipeline when a fork is built, or what came of it, unless forks are trusted', async () => {
    const { world, pipelineId } = await aJob()
    const pipeline = { id: pipelineId }
    await app.db
      .updateTable('pipelines')
      .set({
        env: JSON.stringify({ DEPLOY_PASSWORD: 'hush' }),
        configuration: 'env: {A: b}\nsteps: [{command: a}]',
      })
      .where('id', '=', pipelineId)
      .execute()
    const whole = { DEPLOY_PASSWORD: 'hush', A: 'b' }
    const own = await aBuild(app, world.org, pipeline)
    expect(await envOf(own.id)).toEqual(whole)
    const forked = await aBuild(app, world.org, pipeline, { pullRequest: fork })
    expect(await envOf(forked.id)).toEqual({ A: 'b' })
    const rebuiltFrom = { id: forked.id, number: forked.number }
    expect(await envOf((await aBuild(app, world.org, pipeline, { rebuiltFrom })).id)).toEqual({ A: 'b' })
    const triggeredFrom = {
      build_id: forked.id,
      build_number: forked.number,
      build_pipeline_slug: 'any',
      job_id: (
        await app.db
          .selectFrom('jobs')
          .select('id')
          .where('build_id', '=', forked.id)
          .executeTakeFirstOrThrow()
      ).id,
      depth: 1,
    }
    expect(await envOf((await aBuild(app, world.org, pipeline, { triggeredFrom })).id)).toEqual({ A: 'b' })
    await app.db
      .updateTable('pipelines')
      .set({ provider_settings: JSON.stringify({ trust_pull_request_forks: true }) })
      .where('id', '=', pipelineId)
      .execute()
    expect(await envOf((await aBuild(app, world.org, pipeline, { pullRequest: fork })).id)).toEqual(whole)
  })
})
