// Insight: reading it after a thousand and after a million jobs, and what counting a job adds to its end.
import { sql } from 'kysely'
import { act } from '@millrace/server/conductor/act.ts'
import { createBuild } from '@millrace/server/conductor/create-build.ts'
import { noteJobEnds } from '@millrace/server/conductor/insights/job-ends.ts'
import type { Context } from '@millrace/server/context.ts'
import { batch } from '@millrace/server/db/batch.ts'
import { newId } from '@millrace/server/lib/ids.ts'
import { foldJobEnds } from '@millrace/server/resources/insights/insights/fold.ts'
import { startBenchServer, type BenchServer } from './harness/bench-server.ts'
import { contextOn } from './harness/context.ts'
import { row, type Report } from './harness/report.ts'
import { aBuildRequest, seedPipeline, type Seeded } from './harness/seed.ts'

const few = 1000
const steps = 20
const reads = 21
const ends = 100
const most = { reading: 2, noting: 0.2, folding: 0.5 }
const groupings = ['queue', 'pipeline', 'creator', 'step']

export async function benchInsight(many = 1_000_000): Promise<Report> {
  const bench = await startBenchServer()
  try {
    const ctx = contextOn(bench.database)
    const pipelineId = await seedPipeline(
      bench.database.db,
      bench.seeded,
      'counted',
      `steps: [{command: c, parallelism: ${ends}}]`,
    )
    const { endMs, noteMs } = await measureEnds(ctx, bench.seeded, pipelineId)
    await addJobs(ctx, bench.seeded, pipelineId, few)
    const before = await readMs(bench)
    const foldMs = (await addJobs(ctx, bench.seeded, pipelineId, many - few)) / (many - few)
    const after = await readMs(bench)
    const jobs = many.toLocaleString('en')
    const target = (what: string, measured: number, limit: number) => ({
      what,
      target: `< ${limit}`,
      measured: measured.toFixed(2),
      met: measured < limit,
    })
    return {
      name: 'insight',
      rows: [
        row('one page of each grouping, 1,000 jobs', `${before.toFixed(1)} ms`, 'median'),
        row(`one page of each grouping, ${jobs} jobs`, `${after.toFixed(1)} ms`, 'median'),
        row("a job's end", `${endMs.toFixed(2)} ms`, 'median'),
        row('noting it, apart', `${noteMs.toFixed(2)} ms`, 'median'),
        row('counting it later', `${foldMs.toFixed(3)} ms`, 'mean'),
      ],
      targets: [
        target(`reading, ${jobs} : 1,000 jobs`, after / before, most.reading),
        target("noting a job's end : the end", noteMs / endMs, most.noting),
        target('counting a job : its end', foldMs / endMs, most.folding),
      ],
    }
  } finally {
    await bench.stop()
  }
}

/** Jobs of the last day and of some steps, as the conductor notes them. Returns how long they took to be counted. */
async function addJobs(
  ctx: Context,
  { orgId, userId }: Seeded,
  pipelineId: string,
  count: number,
): Promise<number> {
  const atOnce = 10_000
  let ms = 0
  for (let made = 0; made < count; made += atOnce) {
    await sql`
      insert into job_ends (organization_id, job_id, build_id, pipeline_id, creator_id, step, ended_at, has_failed, is_retry, wait_ms,
        run_ms, price_micros)
      select ${orgId}::uuid, gen_random_uuid(), ${newId()}::uuid, ${pipelineId}::uuid, ${userId}::uuid, 'step ' || n % ${sql.lit(steps)},
        now() - random() * interval '23 hours', n % 10 = 0, false, 1000 * exp(random() * 3), 20000 * exp(random()), 8000
      from generate_series(1, ${Math.min(atOnce, count - made)}::int) n`.execute(ctx.db)
    const start = performance.now()
    await foldJobEnds(ctx, new AbortController().signal)
    ms += performance.now() - start
  }
  await sql`vacuum analyze insight_minutes, insight_hours, insight_days`.execute(ctx.db)
  return ms
}

async function readMs({ address, seeded }: BenchServer): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < reads; round++) {
    const start = performance.now()
    for (const groupBy of groupings) {
      const response = await fetch(
        `${address}/v2/organizations/${seeded.slug}/insights?group_by=${groupBy}&period=24h`,
        { headers: { Authorization: `Bearer ${seeded.token}` } },
      )
      if (!response.ok) throw new Error(await response.text())
      await response.arrayBuffer()
    }
    times.push(performance.now() - start)
  }
  return median(times)
}

/** A job's end, and the statement that notes it, sent once more by itself. */
async function measureEnds(
  ctx: Context,
  { orgId, userId }: Seeded,
  pipelineId: string,
): Promise<{ endMs: number; noteMs: number }> {
  const [endTimes, noteTimes]: [number[], number[]] = [[], []]
  const created = await createBuild(ctx, orgId, aBuildRequest(pipelineId, { creatorId: userId }))
  if (!created.ok) throw new Error(created.message)
  const { rows } = await sql<{ id: string }>`
    select id from jobs where build_id = ${created.buildId} order by position`.execute(ctx.db)
  for (const { id: jobId } of rows) {
    for (const type of ['assign', 'accept', 'start'] as const)
      await act(ctx, orgId, created.buildId, { type, jobId })
    const start = performance.now()
    const end = { type: 'finish', jobId, exitStatus: 0, signal: null, signalReason: null } as const
    await act(ctx, orgId, created.buildId, end)
    endTimes.push(performance.now() - start)
    await sql`delete from job_ends where organization_id = ${orgId} and job_id = ${jobId}`.execute(ctx.db)
    const noted = performance.now()
    await batch(ctx.db, noteJobEnds(orgId, [{ jobId, to: 'passed' }]))
    noteTimes.push(performance.now() - noted)
  }
  return { endMs: median(endTimes), noteMs: median(noteTimes) }
}

const median = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? NaN
