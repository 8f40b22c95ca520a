import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { anAgent, anAgentWorld, type AgentWorld, type TestRun } from '../../../test/agent-client.ts'
import { useOwnApp, type Json } from '../../../test/app.ts'
import { aMember, aPipeline } from '../../../test/builders.ts'
import { aBuild, jobNamed, runJob, type TestBuild } from '../../../test/runs.ts'
import { pollers } from '../../worker.ts'

const app = useOwnApp({ env: { MILLRACE_PING_HOLD_SECONDS: '0' } })

/** Long, so that the estimates do not pass while the test runs. */
const length = 6000

const oneJob = '[{command: a}]'

/** A pipeline in whose queue jobs of these lengths have ended. */
async function aPipelineWithHistory(
  world: AgentWorld,
  lengths: readonly number[] = [length, length, length],
  steps = oneJob,
) {
  const pipeline = await aPipeline(app, world.org, steps)
  for (const seconds of lengths) {
    const build = await aBuild(app, world.org, pipeline)
    await runJob(app, build, 'a')
    await sql`
      update jobs set finished_at = now(), started_at = now() - make_interval(secs => ${seconds})
      where build_id = ${build.id}`.execute(app.db)
  }
  return pipeline
}

async function aBusyAgent(world: AgentWorld, pipeline: { id: string }): Promise<TestRun> {
  await aBuild(app, world.org, pipeline)
  const run = await (await anAgent(app, world.token)).begin()
  await started(run, 0)
  return run
}

const started = (run: TestRun, secondsAgo: number) =>
  sql`update jobs set started_at = now() - make_interval(secs => ${secondsAgo}) where id = ${run.id}`.execute(
    app.db,
  )

async function ask({ admin }: AgentWorld, path: string): Promise<Json> {
  const { status, body, text } = await app.request('GET', path, { token: admin.token })
  if (status !== 200) throw new Error(text)
  return body
}

const listOf = async ({ admin, queue }: AgentWorld) =>
  (await app.request('GET', `${queue.path}/jobs?per_page=100`, { token: admin.token })).list

const waitingOf = async (world: AgentWorld, build: TestBuild, name = 'a') =>
  ask(world, `${world.org.path}/jobs/${await jobNamed(app, build, name)}/waiting`)

const whyUnknown = async (world: AgentWorld, build: TestBuild, name = 'a') => {
  const { estimated_start_at: at, estimate_unknown: unknown } = await waitingOf(world, build, name)
  expect(at).toBeNull()
  return unknown?.code
}

/** In tens of seconds, since a job started. */
const sinceStartOf = async (run: TestRun, at: unknown): Promise<number> => {
  const { started_at: from } = await app.db
    .selectFrom('jobs')
    .select('started_at')
    .where('id', '=', run.id)
    .executeTakeFirstOrThrow()
  return Math.round((Date.parse(String(at)) - Date.parse(String(from))) / 10_000) * 10
}

describe('estimated_start_at of a waiting job', () => {
  it('is the end of the jobs in front of it, by what the last ones took', async () => {
    const world = await anAgentWorld(app)
    const pipeline = await aPipelineWithHistory(world)
    const run = await aBusyAgent(world, pipeline)
    const builds = [await aBuild(app, world.org, pipeline), await aBuild(app, world.org, pipeline)]
    const list = await listOf(world)
    expect(list.map(({ build }) => build?.number)).toEqual(builds.map(({ number }) => number))
    expect(list.map(({ estimate_unknown: unknown }) => unknown)).toEqual([null, null])
    const [first, second] = list.map(({ estimated_start_at: at }) => at)
    expect(await sinceStartOf(run, first)).toBe(length)
    expect(await sinceStartOf(run, second)).toBe(2 * length)
    for (const [index, build] of builds.entries()) {
      const { estimated_start_at: at } = await waitingOf(world, build)
      expect(await sinceStartOf(run, at)).toBe((index + 1) * length)
    }
  })

  it('comes sooner with a second agent, and with a higher priority', async () => {
    const world = await anAgentWorld(app)
    const pipeline = await aPipelineWithHistory(world)
    const run = await aBusyAgent(world, pipeline)
    await started(await aBusyAgent(world, pipeline), length / 2)
    const urgent = await aPipelineWithHistory(world, undefined, '[{command: a, priority: 3}]')
    const later = await aBuild(app, world.org, pipeline)
    const sooner = await aBuild(app, world.org, urgent)
    const estimates = await Promise.all([later, sooner].map((build) => waitingOf(world, build)))
    const [late, soon] = estimates.map(({ estimated_start_at: at }) => at)
    expect(await sinceStartOf(run, soon)).toBe(length / 2)
    expect(await sinceStartOf(run, late)).toBe(length)
  })

  it('is now if an agent is idle, also without a history', async () => {
    const world = await anAgentWorld(app)
    const build = await aBuild(app, world.org, await aPipeline(app, world.org, oneJob))
    await anAgent(app, world.token)
    const before = app.ctx.now().getTime()
    const { estimated_start_at: at } = await waitingOf(world, build)
    expect(Date.parse(String(at))).toBeGreaterThanOrEqual(before)
    expect(Date.parse(String(at))).toBeLessThanOrEqual(app.ctx.now().getTime())
  })

  it('follows the shares of a fair queue', async () => {
    const world = await anAgentWorld(app)
    await app.request('PATCH', world.queue.path, { token: world.admin.token, body: { fair_by: 'creator' } })
    const pipeline = await aPipelineWithHistory(world)
    const [busy, person] = [await aMember(app, world.org), await aMember(app, world.org)]
    await aBuild(app, world.org, pipeline, { creatorId: busy.id })
    const run = await (await anAgent(app, world.token)).begin()
    await started(run, 0)
    const flood = await aBuild(app, world.org, pipeline, { creatorId: busy.id })
    const own = await aBuild(app, world.org, pipeline, { creatorId: person.id })
    const [first, second] = await listOf(world)
    expect(first?.build?.number).toBe(own.number)
    expect(await sinceStartOf(run, first?.estimated_start_at)).toBe(length)
    expect(second?.build?.number).toBe(flood.number)
    expect(await sinceStartOf(run, second?.estimated_start_at)).toBe(2 * length)
  })

  it('waits for the slot of a concurrency group', async () => {
    const world = await anAgentWorld(app)
    const grouped = '[{command: a, concurrency: 1, concurrency_group: deploy}]'
    const pipeline = await aPipelineWithHistory(world, undefined, grouped)
    const run = await aBusyAgent(world, pipeline)
    await anAgent(app, world.token)
    const next = await aBuild(app, world.org, pipeline)
    const last = await aBuild(app, world.org, pipeline)
    expect(await sinceStartOf(run, (await waitingOf(world, next)).estimated_start_at)).toBe(length)
    expect(await sinceStartOf(run, (await waitingOf(world, last)).estimated_start_at)).toBe(2 * length)
    await sql`update jobs set queue_id = null where id = ${run.id}`.execute(app.db)
    expect(await whyUnknown(world, next)).toBe('concurrency_group')
  })
})

describe('without estimated_start_at, estimate_unknown says why', () => {
  it('no agent can run the job, or too few jobs have ended', async () => {
    const world = await anAgentWorld(app)
    const pipeline = await aPipelineWithHistory(world, [length, length])
    const run = await aBusyAgent(world, pipeline)
    const build = await aBuild(app, world.org, pipeline)
    expect(await whyUnknown(world, build)).toBe('no_history')
    const special = await aBuild(
      app,
      world.org,
      await aPipeline(app, world.org, '[{command: a, agents: ["gpu=1"]}]'),
    )
    expect(await whyUnknown(world, special)).toBe('no_agent')
    expect((await listOf(world)).map(({ estimate_unknown: unknown }) => unknown?.code)).toEqual([
      'no_history',
      'no_agent',
    ])
    await run.agent.call('POST', 'disconnect')
    expect(await whyUnknown(world, build)).toBe('no_agent')
  })

  it('the queue is paused', async () => {
    const world = await anAgentWorld(app)
    const pipeline = await aPipelineWithHistory(world)
    await aBusyAgent(world, pipeline)
    const build = await aBuild(app, world.org, pipeline)
    await app.request('POST', `${world.queue.path}/pause_dispatch`, { token: world.admin.token, body: {} })
    expect(await whyUnknown(world, build)).toBe('queue_paused')
  })

  it('a step in front of it has not ended, or the job has', async () => {
    const world = await anAgentWorld(app)
    const steps = '[{command: a}, wait, {command: b}, {block: Go}, {command: c}]'
    const build = await aBuild(app, world.org, await aPipeline(app, world.org, steps))
    expect(await whyUnknown(world, build, 'b')).toBe('not_in_queue')
    expect(await whyUnknown(world, build, 'c')).toBe('not_in_queue')
    await runJob(app, build, 'a')
    expect(await whyUnknown(world, build, 'a')).toBe('not_in_queue')
  })

  it('a job runs longer than all before it', async () => {
    const world = await anAgentWorld(app)
    const pipeline = await aPipelineWithHistory(world)
    const run = await aBusyAgent(world, pipeline)
    await started(run, 2 * length)
    expect(await whyUnknown(world, await aBuild(app, world.org, pipeline))).toBe('overrun')
  })

  it('the lengths of jobs differ too much', async () => {
    const world = await anAgentWorld(app)
    const pipeline = await aPipelineWithHistory(world, [200, length, 300, length, 400, length])
    await aBusyAgent(world, pipeline)
    expect(await whyUnknown(world, await aBuild(app, world.org, pipeline))).toBe('spread')
  })

  it('idle agents do not ask for the job', async () => {
    const world = await anAgentWorld(app)
    const build = await aBuild(app, world.org, await aPipelineWithHistory(world))
    await anAgent(app, world.token)
    await sql`update jobs set runnable_at = now() - interval '1 minute' where build_id = ${build.id}`.execute(
      app.db,
    )
    expect(await whyUnknown(world, build)).toBe('agents_idle')
  })

  it('a group has a job in front whose end is not known', async () => {
    const world = await anAgentWorld(app)
    const grouped = '[{command: a, concurrency: 1, concurrency_group: deploy}]'
    const pipeline = await aPipelineWithHistory(world, undefined, grouped)
    const run = await aBusyAgent(world, pipeline)
    await started(run, 2 * length)
    expect(await whyUnknown(world, await aBuild(app, world.org, pipeline))).toBe('concurrency_group')
  })

  it('too many jobs come first', async () => {
    const world = await anAgentWorld(app)
    const pipeline = await aPipelineWithHistory(world)
    const run = await aBusyAgent(world, pipeline)
    const many = await aPipeline(app, world.org, '[{command: a, parallelism: 1000, priority: 1}]')
    await aBuild(app, world.org, many)
    const build = await aBuild(app, world.org, pipeline)
    expect(await whyUnknown(world, build)).toBe('too_large')
    const [first] = await listOf(world)
    expect(await sinceStartOf(run, first?.estimated_start_at)).toBe(length)
  })
})

describe('the errors of estimates', () => {
  const remember = (seconds = 0) =>
    pollers['remember_estimates']?.run(
      { ...app.ctx, now: () => new Date(app.ctx.now().getTime() + seconds * 1000) },
      new AbortController().signal,
    )
  const errorsOf = async (world: AgentWorld) => (await ask(world, `${world.queue.path}/metrics`)).estimates

  it('are those of the first estimates of jobs, and known when they start', async () => {
    const world = await anAgentWorld(app)
    const pipeline = await aPipelineWithHistory(world)
    const run = await aBusyAgent(world, pipeline)
    await aBuild(app, world.org, pipeline)
    expect(await errorsOf(world)).toEqual({ jobs: 0, p50_seconds: null, p90_seconds: null })
    await remember()
    expect(await errorsOf(world)).toMatchObject({ jobs: 0 })
    await started(run, length - 100)
    await remember()
    await run.finish()
    await run.agent.begin()
    const errors = await errorsOf(world)
    expect(errors?.jobs).toBe(1)
    expect(errors?.p50_seconds).toBe(errors?.p90_seconds)
    expect(Number(errors?.p50_seconds)).toBeGreaterThan(length - 1000)
    expect(Number(errors?.p50_seconds)).toBeLessThanOrEqual(length)
  })

  it('count jobs that should have started, and end after seven days', async () => {
    const world = await anAgentWorld(app)
    const pipeline = await aPipelineWithHistory(world)
    await aBusyAgent(world, pipeline)
    await aBuild(app, world.org, pipeline)
    await remember()
    await sql`update job_estimates set estimated_start_at = now() - interval '500 seconds' where queue_id = ${world.queue.id}`.execute(
      app.db,
    )
    const errors = await errorsOf(world)
    expect(errors?.jobs).toBe(1)
    expect(Number(errors?.p90_seconds)).toBeGreaterThanOrEqual(500)
    await remember(8 * 24 * 3600)
    expect(await errorsOf(world)).toMatchObject({ jobs: 0 })
  })

  it('are kept of new jobs alone', async () => {
    const world = await anAgentWorld(app)
    const pipeline = await aPipelineWithHistory(world)
    await aBusyAgent(world, pipeline)
    const build = await aBuild(app, world.org, pipeline)
    await sql`update jobs set runnable_at = now() - interval '1 minute' where build_id = ${build.id}`.execute(
      app.db,
    )
    await remember()
    const kept = sql`select from job_estimates where queue_id = ${world.queue.id}`
    expect((await kept.execute(app.db)).rows).toHaveLength(0)
  })
})
