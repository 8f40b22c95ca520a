// The cost of one job's end in builds of 10, 100, 1,000 and 4,000 jobs: with single-job steps before a wait, and with one
// step of parallel jobs.
import { sql } from 'kysely'
import { act } from '@millrace/server/conductor/act.ts'
import { createBuild } from '@millrace/server/conductor/create-build.ts'
import type { Context } from '@millrace/server/context.ts'
import type { Db } from '@millrace/server/db/pool.ts'
import { row, type Report } from '../harness/report.ts'
import { aBuildRequest, seedPipeline, type Seeded } from '../harness/seed.ts'

const sizes = [10, 100, 1000, 4000]
const ends = 60
const most = 2

const shapes: Record<string, (size: number) => string> = {
  'many steps': (size) =>
    `steps: [${Array.from({ length: size - 2 }, (_, index) => `{command: "c${index}"}`).join(', ')}, wait, {command: last}]`,
  'one wide step': (size) => `steps: [{command: c, parallelism: ${size - 2}}, wait, {command: last}]`,
}

export async function jobEnds(ctx: Context, db: Db, seeded: Seeded): Promise<Omit<Report, 'name'>> {
  const rows: Report['rows'] = []
  const targets: Report['targets'] = []
  for (const [shape, configuration] of Object.entries(shapes)) {
    // Warm up, because the first builds of a process are slow.
    await endJobs(
      ctx,
      db,
      seeded,
      await seedPipeline(db, seeded, `${shape.replaceAll(' ', '-')}-warm-up`, configuration(100)),
    )
    const medians: number[] = []
    for (const size of sizes) {
      const pipelineId = await seedPipeline(
        db,
        seeded,
        `${shape.replaceAll(' ', '-')}-${size}`,
        configuration(size),
      )
      const ms = await endJobs(ctx, db, seeded, pipelineId)
      medians.push(ms)
      rows.push(row(`one job's end, ${shape}, ${size} jobs`, `${ms.toFixed(2)} ms`, 'median'))
    }
    const ratio = (medians.at(-1) ?? 0) / (medians[0] ?? 1)
    targets.push({
      what: `one job's end, ${shape}, 4,000 : 10`,
      target: `< ${most}`,
      measured: ratio.toFixed(2),
      met: ratio < most,
    })
  }
  return { rows, targets }
}

/** Several builds if one has too few jobs to measure. */
async function endJobs(ctx: Context, db: Db, seeded: Seeded, pipelineId: string): Promise<number> {
  const { orgId } = seeded
  const times: number[] = []
  while (times.length < ends) {
    const created = await createBuild(ctx, orgId, aBuildRequest(pipelineId, { creatorId: seeded.userId }))
    if (!created.ok) throw new Error(JSON.stringify(created))
    const { rows: jobs } = await sql<{ id: string }>`
      select id from jobs where build_id = ${created.buildId} and state = 'scheduled' order by position limit ${ends - times.length}`.execute(
      db,
    )
    await sql`analyze jobs, build_steps, build_edges`.execute(db)
    for (const { id: jobId } of jobs) {
      for (const type of ['assign', 'accept', 'start'] as const)
        await act(ctx, orgId, created.buildId, { type, jobId })
      const start = performance.now()
      const ended = await act(ctx, orgId, created.buildId, {
        type: 'finish',
        jobId,
        exitStatus: 0,
        signal: null,
        signalReason: null,
      })
      times.push(performance.now() - start)
      if (!ended.ok) throw new Error(ended.message)
    }
  }
  times.sort((a, b) => a - b)
  return times[Math.floor(times.length / 2)] ?? 0
}
