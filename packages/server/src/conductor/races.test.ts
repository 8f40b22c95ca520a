// Concurrent changes of one build: the second one is refused or waits, and nothing is counted twice.
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { inTransaction } from '../db/transaction.ts'
import { eventually, useApp } from '../../test/app.ts'
import { anOrganization, aPipeline } from '../../test/builders.ts'
import {
  aBuild,
  buildState,
  jobNamed,
  jobsOf,
  runJob,
  startJob,
  statesOf,
  applyEvent,
  type TestBuild,
} from '../../test/runs.ts'
import { carryOut } from './act.ts'
import { advanceIn, type UntimedEvent } from './advance.ts'

const app = useApp()

async function build(configuration: string): Promise<TestBuild> {
  const org = await anOrganization(app)
  return aBuild(app, org, await aPipeline(app, org, configuration))
}

const finish = (jobId: string, exitStatus = 0): UntimedEvent => ({
  type: 'finish',
  jobId,
  exitStatus,
  signal: null,
  signalReason: null,
})

async function counters(of: TestBuild): Promise<unknown> {
  const { rows } = await sql`
    select to_jsonb(t) - 'build_id' as build, b.state, (
        select jsonb_agg(to_jsonb(s) - '{id,build_id,organization_id,group_id,uploader_id,upload_path,definition}'::text[] order by s.position)
        from build_steps s where s.build_id = b.id) as steps,
      (select jsonb_object_agg(state, count) from (
        select state, count(*) from jobs where build_id = b.id group by state) j) as jobs,
      (select jsonb_build_object('running', sum(p.running_jobs), 'scheduled', sum(p.scheduled_jobs),
        'waiting', sum(p.waiting_jobs), 'builds', sum(p.running_builds))
        from pipeline_tallies p where p.pipeline_id = b.pipeline_id) as pipeline
    from builds b join build_tallies t on t.build_id = b.id where b.id = ${of.id}`.execute(app.db)
  return rows[0]
}

describe('64 jobs that end at once', () => {
  const configuration = `
    - { command: many, parallelism: 64, soft_fail: [{ exit_status: 2 }], retry: { automatic: [{ exit_status: 3, limit: 1 }] } }
    - { wait: ~, continue_on_failure: true }
    - { command: after }`

  /** Some fail, some fail softly, some are retried. */
  const exitStatus = (index: number) => [0, 0, 2, 0, 3, 0, 1, 0][index % 8] ?? 0

  async function aStartedBuild(): Promise<{ running: TestBuild; ids: string[] }> {
    const running = await build(configuration)
    const ids = (await jobsOf(app, running)).filter(({ name }) => name === 'many').map(({ id }) => id)
    for (const jobId of ids) {
      for (const type of ['assign', 'accept', 'start'] as const)
        await applyEvent(app, running, { type, jobId })
    }
    return { running, ids }
  }

  it('have the same result as one after the other', async () => {
    const [atOnce, inTurn] = [await aStartedBuild(), await aStartedBuild()]
    for (const [index, jobId] of inTurn.ids.entries()) {
      expect((await applyEvent(app, inTurn.running, finish(jobId, exitStatus(index)))).ok).toBe(true)
    }
    const outcomes = await Promise.all(
      atOnce.ids.map((jobId, index) => applyEvent(app, atOnce.running, finish(jobId, exitStatus(index)))),
    )
    expect(outcomes.filter(({ ok }) => !ok)).toEqual([])
    expect(await counters(atOnce.running)).toEqual(await counters(inTurn.running))
    expect(await statesOf(app, atOnce.running)).toMatchObject({ waiter: 'waiting', after: 'waiting' })
  })
})

describe('a transaction that waits for a build', () => {
  it('sees all changes of the one before', async () => {
    const running = await build('[{ command: a }, { command: b }]')
    const [a, b] = [await jobNamed(app, running, 'a'), await jobNamed(app, running, 'b')]
    for (const jobId of [a, b]) {
      for (const type of ['assign', 'accept'] as const) await applyEvent(app, running, { type, jobId })
    }
    const start = (jobId: string): UntimedEvent => ({ type: 'start', jobId })
    const second = await inTransaction(app.db, async (trx) => {
      await advanceIn(trx, app.ctx, running.organizationId, running.id, start(a))
      const waiting = applyEvent(app, running, start(b))
      await eventually('it waits for the lock', async () => {
        const { rows } = await sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
          app.db,
        )
        return rows.length === 1
      })
      return { waiting }
    })
    expect(await second.waiting).toMatchObject({ ok: true })
    const { rows } = await sql<{ to: string }>`
      select data ->> 'to' as "to" from events
      where build_id = ${running.id} and kind = 'build.state_changed' order by id`.execute(app.db)
    expect(rows.map(({ to }) => to)).toEqual(['scheduled', 'running'])
    expect(await counters(running)).toMatchObject({ pipeline: { builds: 1, running: 2, scheduled: 0 } })
  })
})

describe('two concurrent requests', () => {
  it('a cancel and a start leave the job canceling or canceled, never running', async () => {
    for (let round = 0; round < 10; round++) {
      const running = await build('[{ command: a }]')
      const jobId = await jobNamed(app, running, 'a')
      for (const type of ['assign', 'accept'] as const) await applyEvent(app, running, { type, jobId })
      const [canceled, started] = await Promise.all([
        applyEvent(app, running, { type: 'cancel_build', reason: null }),
        applyEvent(app, running, { type: 'start', jobId }),
      ])
      expect(canceled.ok).toBe(true)
      expect(started.ok ? 'started' : started.reason).toMatch(/^(started|wrong_state|job_finished)$/)
      expect(await statesOf(app, running)).toEqual({ a: 'canceling' })
      expect(await buildState(app, running)).toBe('canceling')
      await applyEvent(app, running, finish(jobId, 143))
      expect(await buildState(app, running)).toBe('canceled')
    }
  })

  it('a retry and a cancel of the build end with every job ended', async () => {
    for (let round = 0; round < 10; round++) {
      const running = await build('[{ command: a }, { command: b }]')
      await runJob(app, running, 'a', 1)
      const jobId = await jobNamed(app, running, 'a')
      const [retried, canceled] = await Promise.all([
        applyEvent(app, running, { type: 'retry', jobId, parentCanceled: false }),
        applyEvent(app, running, { type: 'cancel_build', reason: null }),
      ])
      expect(canceled.ok).toBe(true)
      expect(retried.ok ? 'retried' : retried.reason).toMatch(/^(retried|build_canceled)$/)
      expect(await statesOf(app, running)).toEqual({ a: retried.ok ? 'canceled' : 'failed', b: 'canceled' })
      expect(await buildState(app, running)).toBe('canceled')
    }
  })

  it('an unblock asked for several times happens once', async () => {
    const running = await build('[{ block: Go? }, { command: a }]')
    const jobId = await jobNamed(app, running, 'Go?')
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () =>
        applyEvent(app, running, { type: 'unblock', jobId, answers: {}, by: null }),
      ),
    )
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1)
    expect(await statesOf(app, running)).toEqual({ 'Go?': 'unblocked', a: 'scheduled' })
  })

  it('an end reported twice counts once', async () => {
    const running = await build('[{ command: a }, { command: b }]')
    const jobId = await startJob(app, running, 'a')
    const outcomes = await Promise.all(
      [0, 1, 0, 1].map((status) => applyEvent(app, running, finish(jobId, status))),
    )
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1)
  })
})

describe('a concurrency group that many builds share', () => {
  it('never runs more jobs than its limit, and runs all of them in the end', async () => {
    const org = await anOrganization(app)
    const pipeline = await aPipeline(app, org, '[{ command: a, concurrency: 2, concurrency_group: gate }]')
    const builds = await Promise.all(Array.from({ length: 8 }, () => aBuild(app, org, pipeline)))
    const isPast = ({ state }: { state: string }) => state === 'passed'
    const look = async () => {
      const { rows } = await sql<{ id: string; build_id: string; state: string }>`
        select id, build_id, state from jobs where pipeline_id = ${pipeline.id} order by scheduled_at, id`.execute(
        app.db,
      )
      return rows
    }
    for (let rows = await look(); !rows.every(isPast); rows = await look()) {
      const held = rows.filter(({ state }) => state === 'scheduled')
      expect(held.length).toBeGreaterThan(0)
      expect(held.length).toBeLessThanOrEqual(2)
      await Promise.all(
        held.map(async ({ id, build_id }) => {
          const one = builds.find((candidate) => candidate.id === build_id)
          if (one === undefined) throw new Error('A job of an unknown build.')
          for (const type of ['assign', 'accept', 'start'] as const)
            await applyEvent(app, one, { type, jobId: id })
          await applyEvent(app, one, finish(id))
        }),
      )
    }
  })

  it('loses nothing when another process carries out the follow-ups of a dead one', async () => {
    const org = await anOrganization(app)
    const pipeline = await aPipeline(app, org, '[{ command: a, concurrency: 1, concurrency_group: gate }]')
    const [first, second] = [await aBuild(app, org, pipeline), await aBuild(app, org, pipeline)]
    await runJob(app, first, 'a')
    await carryOut(app.ctx, [
      { kind: 'decide_slots', organizationId: org.id, group: 'gate', untrusted: false },
    ])
    await carryOut(app.ctx, [
      { kind: 'decide_slots', organizationId: org.id, group: 'gate', untrusted: false },
    ])
    expect(await statesOf(app, second)).toEqual({ a: 'scheduled' })
  })
})
