import { describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { aCluster, anAdmin, anOrganization, aPipeline, aQueue } from '../../test/builders.ts'
import { aBuild, buildState, runJob, startJob, statesOf } from '../../test/runs.ts'

const app = useApp()

describe('a build', () => {
  it('runs its steps one after the other', async () => {
    const org = await anOrganization(app)
    const build = await aBuild(app, org, await aPipeline(app, org, '[{command: a}, wait, {command: b}]'))
    expect(await statesOf(app, build)).toEqual({ a: 'scheduled', waiter: 'waiting', b: 'waiting' })
    expect(await buildState(app, build)).toBe('scheduled')
    await startJob(app, build, 'a')
    expect(await buildState(app, build)).toBe('running')
  })

  it('does not run steps behind a failed one', async () => {
    const org = await anOrganization(app)
    const build = await aBuild(app, org, await aPipeline(app, org, '[{command: a}, wait, {command: b}]'))
    await runJob(app, build, 'a', 1)
    expect(await statesOf(app, build)).toEqual({ a: 'failed', waiter: 'waiting_failed', b: 'waiting_failed' })
    expect(await buildState(app, build)).toBe('failed')
  })

  it('triggers another, and continues when that one has passed', async () => {
    const org = await anOrganization(app)
    const child = await aPipeline(app, org, '[{command: c}]')
    const parent = await aPipeline(app, org, `[{trigger: ${child.slug}}, wait, {command: b}]`)
    const build = await aBuild(app, org, parent)
    expect(await statesOf(app, build)).toEqual({ [child.slug]: 'running', waiter: 'waiting', b: 'waiting' })
    const { id, number } = await app.db
      .selectFrom('builds')
      .select(['id', 'number'])
      .where('pipeline_id', '=', child.id)
      .executeTakeFirstOrThrow()
    await runJob(app, { id, number, organizationId: org.id }, 'c')
    expect(await statesOf(app, build)).toEqual({ [child.slug]: 'passed', waiter: 'passed', b: 'scheduled' })
  })

  it('refuses a chain of triggers that never ends', async () => {
    const org = await anOrganization(app)
    const pipeline = await aPipeline(app, org, '[{trigger: loop}]', { slug: 'loop' })
    const build = await aBuild(app, org, pipeline)
    expect(await buildState(app, build)).toBe('failed')
    const builds = await app.db
      .selectFrom('builds')
      .select('id')
      .where('pipeline_id', '=', pipeline.id)
      .execute()
    expect(builds).toHaveLength(11)
  })
})

describe('the queue of a job', () => {
  const queueOf = async (buildId: string) =>
    (
      await app.db
        .selectFrom('jobs')
        .select('queue_id')
        .where('build_id', '=', buildId)
        .executeTakeFirstOrThrow()
    ).queue_id

  it('is found when it is created after the job that names it', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const cluster = await aCluster(app, org, admin)
    const build = await aBuild(app, org, await aPipeline(app, org, '[{command: a, agents: {queue: late}}]'))
    expect(await queueOf(build.id)).toBeNull()
    const queue = await aQueue(app, cluster, admin, { key: 'late' })
    expect(await queueOf(build.id)).toBe(queue.id)
  })

  it('is the default one of the cluster, also when that is chosen later', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const cluster = await aCluster(app, org, admin)
    const queue = await aQueue(app, cluster, admin)
    const build = await aBuild(app, org, await aPipeline(app, org, '[{command: a}]'))
    expect(await queueOf(build.id)).toBeNull()
    await app.request('PUT', cluster.path, { token: admin.token, body: { default_queue_id: queue.id } })
    expect(await queueOf(build.id)).toBe(queue.id)
  })
})
