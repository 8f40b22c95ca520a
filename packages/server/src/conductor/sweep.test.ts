import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { useOwnApp } from '../../test/app.ts'
import { aCluster, anAdmin, anOrganization, aPipeline, aQueue } from '../../test/builders.ts'
import {
  aBuild,
  aBuildRequest,
  applyEvent,
  buildState,
  jobNamed,
  runJob,
  startJob,
  statesOf,
  type TestBuild,
} from '../../test/runs.ts'
import type { Context } from '../context.ts'
import { advanceBuild } from './advance.ts'
import { createBuild } from './create-build.ts'
import { endSuperseding } from './superseding.ts'
import { sweep, undecidedGroups } from './sweep.ts'

const app = useOwnApp()

const later = (seconds: number): Context => ({ ...app.ctx, now: () => new Date(Date.now() + seconds * 1000) })
const days = 24 * 60 * 60

describe('a passed deadline', () => {
  it('expires a job that no agent took for 30 days, and with it the build', async () => {
    const org = await anOrganization(app)
    const build = await aBuild(app, org, await aPipeline(app, org, '[{command: a}, wait, {command: b}]'))
    await sweep(later(29 * days))
    expect(await statesOf(app, build)).toMatchObject({ a: 'scheduled' })
    await sweep(later(31 * days))
    expect(await statesOf(app, build)).toMatchObject({ a: 'expired', b: 'waiting_failed' })
    expect(await buildState(app, build)).toBe('failed')
  })

  it('expires it sooner where the organization says so', async () => {
    const org = await anOrganization(app)
    await app.db
      .insertInto('organization_pipeline_settings')
      .values({ organization_id: org.id, scheduled_job_expiry_in_minutes: 10 })
      .execute()
    const build = await aBuild(app, org, await aPipeline(app, org, '[{command: a}]'))
    await sweep(later(11 * 60))
    expect(await statesOf(app, build)).toEqual({ a: 'expired' })
  })

  it('makes a job scheduled again that was assigned and never accepted', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const cluster = await aCluster(app, org, admin)
    const queue = await aQueue(app, cluster, admin)
    const pipeline = await aPipeline(app, org, `[{command: a, agents: {queue: ${queue.key}}}]`)
    const build = await aBuild(app, org, pipeline)
    const before = app.ctx.now().getTime()
    await applyEvent(app, build, { type: 'assign', jobId: await jobNamed(app, build, 'a') })
    await sweep({ ...app.ctx, now: () => new Date(before + 59_000) })
    expect(await statesOf(app, build)).toEqual({ a: 'assigned' })
    await sweep(later(61))
    expect(await statesOf(app, build)).toEqual({ a: 'scheduled' })
  })

  it('stops a job without a limit of its own that never ends, also while its agent sends heartbeats', async () => {
    const org = await anOrganization(app)
    const build = await aBuild(app, org, await aPipeline(app, org, '[{command: a}]'))
    await startJob(app, build, 'a')
    await sweep(later(7 * days - 60))
    expect(await statesOf(app, build)).toEqual({ a: 'running' })
    await sweep(later(7 * days + 60))
    expect(await statesOf(app, build)).toEqual({ a: 'timing_out' })
    await sweep(later(8 * days))
    expect(await statesOf(app, build)).toEqual({ a: 'timed_out' })
  })

  it('stops a job that runs over its time, and gives up on an agent that does not answer', async () => {
    const org = await anOrganization(app)
    const build = await aBuild(app, org, await aPipeline(app, org, '[{command: a, timeout_in_minutes: 5}]'))
    await startJob(app, build, 'a')
    await sweep(later(4 * 60))
    expect(await statesOf(app, build)).toEqual({ a: 'running' })
    await sweep(later(5 * 60 + 1))
    expect(await statesOf(app, build)).toEqual({ a: 'timing_out' })
    await sweep(later(7 * 60))
    expect(await statesOf(app, build)).toEqual({ a: 'timed_out' })
    expect(await buildState(app, build)).toBe('failed')
  })

  it('is handled once, however many workers see it', async () => {
    const org = await anOrganization(app)
    const build = await aBuild(app, org, await aPipeline(app, org, '[{command: a, timeout_in_minutes: 5}]'))
    await startJob(app, build, 'a')
    await Promise.all(Array.from({ length: 5 }, () => sweep(later(6 * 60))))
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from events where build_id = ${build.id} and data ->> 'to' = 'timing_out'`.execute(
      app.db,
    )
    expect(rows[0]?.count).toBe(1)
  })
})

describe('follow-ups that a dead process left undone', () => {
  it('a trigger job without its build gets one, and only one', async () => {
    const org = await anOrganization(app)
    const child = await aPipeline(app, org, '[{command: c}]')
    const parent = await aPipeline(app, org, `[{trigger: ${child.slug}}]`)
    const build = await aBuild(app, org, parent)
    await sql`update jobs set triggered_build_id = null where build_id = ${build.id}`.execute(app.db)
    await sweep(later(10))
    const children = await app.db
      .selectFrom('builds')
      .select('id')
      .where('pipeline_id', '=', child.id)
      .execute()
    expect(children).toHaveLength(1)
    const job = await app.db
      .selectFrom('jobs')
      .select('triggered_build_id')
      .where('build_id', '=', build.id)
      .executeTakeFirst()
    expect(job?.triggered_build_id).toBe(children[0]?.id)
  })

  it('reports the state of a child to its parent', async () => {
    const org = await anOrganization(app)
    const child = await aPipeline(app, org, '[{command: c}]')
    const build = await aBuild(
      app,
      org,
      await aPipeline(app, org, `[{trigger: ${child.slug}}, wait, {command: b}]`),
    )
    const { id, number } = await app.db
      .selectFrom('builds')
      .select(['id', 'number'])
      .where('pipeline_id', '=', child.id)
      .executeTakeFirstOrThrow()
    await sql`update builds set triggered_from_job_id = null where id = ${id}`.execute(app.db)
    await runJob(app, { id, number, organizationId: org.id }, 'c')
    expect(await statesOf(app, build)).toMatchObject({ b: 'waiting' })
    await sweep(later(10))
    expect(await statesOf(app, build)).toMatchObject({ [child.slug]: 'passed', b: 'scheduled' })
  })

  describe('decides the slots of a concurrency group', () => {
    const group = (method: string) =>
      `[{command: a, concurrency: 1, concurrency_group: gate, concurrency_method: ${method}}]`
    const isLookedAt = async (org: { id: string }) =>
      (await undecidedGroups(sql`now()`, sql`now()`).execute(app.db)).rows.some(
        ({ organizationId }) => organizationId === org.id,
      )

    it.each(['ordered', 'eager'])('that a new %s job was to enter', async (method) => {
      const org = await anOrganization(app)
      const pipeline = await aPipeline(app, org, group(method))
      const created = await createBuild(app.ctx, org.id, aBuildRequest(pipeline.id))
      if (!created.ok) throw new Error(created.message)
      const build = { id: created.buildId, number: 1, organizationId: org.id }
      expect(await statesOf(app, build)).toEqual({ a: 'limiting' })
      await sweep(later(10))
      expect(await statesOf(app, build)).toEqual({ a: 'scheduled' })
    })

    it.each(['ordered', 'eager'])(
      'that an %s job has left, and not while it holds its slot',
      async (method) => {
        const org = await anOrganization(app)
        const pipeline = await aPipeline(app, org, group(method))
        const [first, second, third] = [
          await aBuild(app, org, pipeline),
          await aBuild(app, org, pipeline),
          await aBuild(app, org, pipeline),
        ]
        await startJob(app, first, 'a')
        expect(await isLookedAt(org)).toBe(false)
        const event = {
          type: 'finish',
          jobId: await jobNamed(app, first, 'a'),
          exitStatus: 0,
          signal: null,
          signalReason: null,
        } as const
        const finished = await advanceBuild(app.ctx, org.id, first.id, event)
        expect(finished).toMatchObject({ ok: true, followUps: [{ kind: 'decide_slots' }] })
        expect(await isLookedAt(org)).toBe(true)
        await sweep(later(10))
        expect([await statesOf(app, second), await statesOf(app, third)]).toEqual([
          { a: 'scheduled' },
          { a: 'limited' },
        ])
      },
    )

    it('where no agent comes for a job with a slot', async () => {
      const org = await anOrganization(app)
      const pipeline = await aPipeline(app, org, group('ordered'))
      await aBuild(app, org, pipeline)
      await aBuild(app, org, pipeline)
      expect(await isLookedAt(org)).toBe(true)
    })
  })

  describe('skips and cancels the older builds of a branch', () => {
    const settings = { skip_queued_branch_builds: true, cancel_running_branch_builds: true }
    const isKept = async (build: { id: string }) =>
      (await sql`select from superseding_builds where build_id = ${build.id}`.execute(app.db)).rows.length > 0

    it('that a new build was to take the place of', async () => {
      const org = await anOrganization(app)
      const pipeline = await aPipeline(app, org, '[{command: a}]', settings)
      const older = [await aBuild(app, org, pipeline), await aBuild(app, org, pipeline, { branch: 'other' })]
      const running = await aBuild(app, org, pipeline, { branch: 'running' })
      await startJob(app, running, 'a')
      for (const branch of ['main', 'running']) {
        // As by a process that dies after its commit: nobody carries out the follow-ups.
        const created = await createBuild(app.ctx, org.id, aBuildRequest(pipeline.id, { branch }))
        expect(created).toMatchObject({ ok: true, followUps: [{ kind: 'supersede' }] })
      }
      await sweep(app.ctx)
      expect(await states(app, [...older, running])).toEqual(['scheduled', 'scheduled', 'running'])
      await sweep(later(10))
      expect(await states(app, [...older, running])).toEqual(['skipped', 'scheduled', 'canceling'])
      // Once only: what a person retries afterwards goes on.
      const { rows } = await sql`
        select from superseding_builds where organization_id = ${org.id}`.execute(app.db)
      expect(rows).toEqual([])
    })

    it('and nothing is left to the sweep where it was done at once', async () => {
      const org = await anOrganization(app)
      const pipeline = await aPipeline(app, org, '[{command: a}]', settings)
      const older = await aBuild(app, org, pipeline)
      const newer = await aBuild(app, org, pipeline)
      expect(await states(app, [older, newer])).toEqual(['skipped', 'scheduled'])
      expect(await isKept(newer)).toBe(false)
      await startJob(app, newer, 'a')
      expect(await isKept(newer)).toBe(false)
    })

    it('also when the build has started before the work of its creation ended', async () => {
      const org = await anOrganization(app)
      const pipeline = await aPipeline(app, org, '[{command: a}]', settings)
      const created = await createBuild(app.ctx, org.id, aBuildRequest(pipeline.id))
      if (!created.ok) throw new Error(created.message)
      await sql`update superseding_builds set version = 2 where build_id = ${created.buildId}`.execute(app.db)
      await endSuperseding(app.db, { id: created.buildId, version: 1 })
      expect(await isKept({ id: created.buildId })).toBe(true)
      await sweep(later(10))
      expect(await isKept({ id: created.buildId })).toBe(false)
    })
  })
})

const states = (of: typeof app, builds: readonly TestBuild[]) =>
  Promise.all(builds.map((build) => buildState(of, build)))
