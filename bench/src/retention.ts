// Measures retention beside load: a worker archives and deletes old builds while agents take new ones. The server, the worker, the
// agents and the commands are real; only the old builds are inserted in bulk.
import { setTimeout as delay } from 'node:timers/promises'
import { createBuild, createPipeline } from './build-cost/builds.ts'
import { cpuOfFamily } from './build-cost/cpu.ts'
import { startWorld, type World } from './build-cost/world.ts'
import { fillBuilds } from './harness/fill-builds.ts'
import { row, type Report } from './harness/report.ts'

const usualBuilds = 100_000
const jobsOfBuild = 3
const agentCount = 2
const warmUp = 20
const quietBuilds = 300
/** The rest of the old builds is left. */
const longestMs = 180_000
const keptBuilds = 100

const aims = { pauseMs: 100 }

export async function benchRetention(oldBuilds = usualBuilds): Promise<Report> {
  const world = await startWorld(false)
  const pipeline = await createPipeline(world.api, 'new')
  const old = await createPipeline(world.api, 'old')
  await fill(world, old, oldBuilds)
  const agents = await world.startAgents(agentCount)
  await startsOf(world, pipeline, (count) => count < warmUp)
  const quiet = await startsOf(world, pipeline, (count) => count < quietBuilds)

  const previewMs = await timeOf(() => world.api('GET', `/pipelines/${old}/retention/preview?build_days=30`))
  await world.api('PUT', `/pipelines/${old}/retention`, {
    build_days: 30,
    archive_days: 0,
    keep_newest_builds: keptBuilds,
  })
  const before = await countOld(world, old)
  while ((await countOld(world, old)) === before) await delay(200)
  const [begunMs, begunWith] = [performance.now(), await countOld(world, old)]
  const cpu = { server: cpuOfFamily(world.serverPid), database: cpuOfFamily(world.databasePid) }
  let left = begunWith
  const busy = await startsOf(world, pipeline, async () => {
    left = await countOld(world, old)
    return left > keptBuilds && performance.now() - begunMs < longestMs
  })
  const seconds = (performance.now() - begunMs) / 1000
  const removed = begunWith - left
  const share = (name: keyof typeof cpu, pid: number) =>
    ((cpuOfFamily(pid) - cpu[name]) / seconds / 10).toFixed(0)
  const rows = [
    timesRow('trigger to start, without retention', quiet),
    timesRow('trigger to start, while builds are removed', busy),
    row(
      'builds removed and archived',
      `${(removed / seconds).toFixed(0)}/s`,
      `${removed} of ${oldBuilds} with ${jobsOfBuild} jobs and logs each, in ${seconds.toFixed(0)} s`,
    ),
    row(
      'CPU meanwhile, with the new builds',
      `server ${share('server', world.serverPid)} %`,
      `database ${share('database', world.databasePid)} %`,
    ),
    row(`preview of ${oldBuilds} builds`, `${previewMs.toFixed(0)} ms`),
  ]
  await agents.stop()
  await world.stop()
  // The longest of some hundred times depends on what else the machine does, so it is shown and no target.
  const pause = percentile(busy, 0.99) - percentile(quiet, 0.99)
  const targets = [
    {
      what: 'trigger to start, p99 with retention − p99 without',
      target: `≤ ${aims.pauseMs} ms`,
      measured: `${pause.toFixed(0)} ms`,
      met: pause <= aims.pauseMs,
    },
  ]
  return { name: 'retention', rows, targets }
}

async function fill({ sql, databaseUrl }: World, slug: string, builds: number): Promise<void> {
  const { rows } = await sql.query<{ pipeline: string; org: string; cluster: string; user: string }>(
    `select p.id as pipeline, p.organization_id as org, p.cluster_id as cluster,
       (select user_id from organization_members m where m.organization_id = p.organization_id limit 1) as user
     from pipelines p where p.slug = $1`,
    [slug],
  )
  const [found] = rows
  if (found === undefined) throw new Error('The pipeline is missing.')
  const seeded = { orgId: found.org, userId: found.user, clusterId: found.cluster, slug: '', token: '' }
  await fillBuilds(databaseUrl, seeded, found.pipeline, { from: 0, to: builds, jobs: jobsOfBuild })
  await sql.query(
    `update builds set state = 'canceled', finished_at = created_at where pipeline_id = $1 and finished_at is null`,
    [found.pipeline],
  )
  // The objects do not exist; to delete one that is missing does nothing.
  await sql.query(
    `insert into job_logs (job_id, organization_id, size, blob_key, rows_blob_key, rows_layout, finished_at)
     select id, organization_id, 1000, 'logs/' || id || '/log', 'logs/' || id || '/rows', '{"size": 500}', now()
     from jobs where pipeline_id = $1`,
    [found.pipeline],
  )
  await sql.query('vacuum analyze')
  // Otherwise the first measurement shares the disk with the pages of the import.
  await sql.query('checkpoint')
}

/** From the request to the start of the job, in milliseconds: one build after another, as long as `goOn` says so. */
async function startsOf(
  world: World,
  pipeline: string,
  goOn: (count: number) => boolean | Promise<boolean>,
): Promise<number[]> {
  const times: number[] = []
  while (await goOn(times.length)) {
    const sentAt = performance.timeOrigin + performance.now()
    const { jobs } = await createBuild(world.api, pipeline)
    times.push((await finished(world, jobs[0]?.id ?? '')) - sentAt)
    // Random, so that builds do not coincide with anything regular.
    await delay(50 + Math.random() * 100)
  }
  return times
}

/** Waits for the end of the job; when it started. */
async function finished({ sql }: World, jobId: string): Promise<number> {
  for (;;) {
    const { rows } = await sql.query<{ started: number }>(
      `select (extract(epoch from started_at) * 1000)::float8 as started from jobs where id = $1 and finished_at is not null`,
      [jobId],
    )
    if (rows[0] !== undefined) return rows[0].started
    await delay(20)
  }
}

async function countOld({ sql }: World, slug: string): Promise<number> {
  const { rows } = await sql.query<{ count: number }>(
    `select count(*)::int as count from builds where pipeline_id = (select id from pipelines where slug = $1)`,
    [slug],
  )
  return rows[0]?.count ?? 0
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begunMs = performance.now()
  await work()
  return performance.now() - begunMs
}

function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * share)] ?? NaN
}

function timesRow(what: string, times: readonly number[]) {
  const at = (share: number) => percentile(times, share).toFixed(1)
  const longest = Math.max(...times).toFixed(1)
  return row(
    what,
    `p50 ${at(0.5)} ms`,
    `p95 ${at(0.95)} ms, p99 ${at(0.99)} ms, longest ${longest} ms, ${times.length} builds`,
  )
}
