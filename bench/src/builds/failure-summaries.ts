// The time and size of the failure summary of a build of 4,000 jobs, of which 300 failed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createBuild } from '@millrace/server/conductor/create-build.ts'
import { newId } from '@millrace/server/lib/ids.ts'
import { compactLog } from '@millrace/server/resources/builds/log/ingest/compact.ts'
import { startBenchServer, type BenchServer } from '../harness/bench-server.ts'
import { contextOn } from '../harness/context.ts'
import { loadUrl } from '../harness/load.ts'
import { row, type Report } from '../harness/report.ts'
import { aBuildRequest, seedPipeline } from '../harness/seed.ts'

const steps = 8
const jobsInStep = 500
const failures = 300
const tests = 10_000
const seconds = 3
const mostMs = 200
const mostBytes = 256 * 1024

export async function failureSummaries(): Promise<Omit<Report, 'name'>> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-failures-'))
  const env = { MILLRACE_DATA_DIR: folder }
  const bench = await startBenchServer(env)
  const rows: Report['rows'] = []
  const targets: Report['targets'] = []
  try {
    const failed = await fill(bench)
    const what = `failure summary of ${steps * jobsInStep} jobs, ${failures} failed`
    const measure = async (title: string) => {
      for (const query of ['', `?max_jobs=100&max_bytes=${mostBytes}`]) {
        const url = `${bench.address}/v2/organizations/${bench.seeded.slug}/pipelines/failures/builds/2/failure_summary${query}`
        const { token } = bench.seeded
        const { length } = await (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).bytes()
        await loadUrl({ url, token, connections: 1, seconds: 1 })
        const { p50, p95 } = await loadUrl({ url, token, connections: 1, seconds })
        const shown = query === '' ? '10 shown' : '100 shown'
        const times = `p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms`
        rows.push(row(`${what}, ${shown}, ${title}`, times, `${Math.round(length / 1024)} kB`))
        targets.push({
          what: `${what}, ${shown}, ${title}`,
          target: `≤ ${mostMs} ms, ${mostBytes / 1024} kB`,
          measured: `${p50.toFixed(0)} ms, ${Math.round(length / 1024)} kB`,
          met: p50 <= mostMs && length <= mostBytes,
        })
      }
    }
    await measure('logs in the database')
    const ctx = contextOn(bench.database, env)
    for (const id of failed) await compactLog(ctx, { job_id: id, organization_id: bench.seeded.orgId })
    await measure('logs in the store')
  } finally {
    await bench.stop()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  return { rows, targets }
}

/** Returns the jobs that failed. A build that passed is before theirs. */
async function fill({ database, seeded }: BenchServer): Promise<string[]> {
  const { pool, db } = database
  const configuration = Array.from(
    { length: steps },
    (_, n) => `{command: c${n}, parallelism: ${jobsInStep}}`,
  )
  const pipelineId = await seedPipeline(db, seeded, 'failures', `steps: [${configuration.join(', ')}]`)
  const ctx = contextOn(database)
  const make = async () => {
    const created = await createBuild(ctx, seeded.orgId, aBuildRequest(pipelineId))
    if (!created.ok) throw new Error(created.message)
    return created.buildId
  }
  const [passedId, failedId] = [await make(), await make()]
  const end = (state: string, id: string) =>
    pool.query('update builds set state = $2, shown_state = $2, finished_at = now() where id = $1', [
      id,
      state,
    ])
  await end('passed', passedId)
  await end('failed', failedId)
  await pool.query(
    `update jobs j set state = case when n <= $2 then 'failed' else 'passed' end, exit_status = case when n <= $2 then 1 else 0 end,
      started_at = now() - interval '2 hours', finished_at = now() - interval '1 hour'
    from (select id, row_number() over (order by hashtext(id::text)) as n from jobs where build_id = $1) so where j.id = so.id`,
    [failedId, failures],
  )
  const log = Buffer.from(aLog())
  await pool.query(
    `insert into job_log_chunks (job_id, sequence, byte_offset, size, data)
    select id, 1, 0, $2, $3 from jobs where build_id = $1 and state = 'failed'`,
    [failedId, log.length, gzipSync(log)],
  )
  await fillTests(database, seeded, failedId)
  await pool.query('vacuum analyze')
  const { rows } = await pool.query<{ id: string }>(
    "select id from jobs where build_id = $1 and state = 'failed'",
    [failedId],
  )
  return rows.map(({ id }) => id)
}

/** 200 kB, as test runners write them. */
const aLog = () =>
  [
    '~~~ Preparing working directory',
    ...Array.from({ length: 200 }, (_, n) => `remote: Counting objects: ${n}`),
    '+++ Running tests',
    ...Array.from(
      { length: 2000 },
      (_, n) => `\u001b[32m✓\u001b[0m src/module-${n}.test.ts (${n % 40} tests) ${n} ms`,
    ),
    '\u001b[31mAssertionError: expected 3 to be 4\u001b[0m',
    ...Array.from({ length: 200 }, (_, n) => `    at frame${n} (src/module-${n}.ts:${n}:7)`),
    '🚨 Error: The command exited with status 1',
    '^^^ +++',
    '',
  ].join('\r\n')

async function fillTests(
  { pool }: BenchServer['database'],
  { orgId, userId }: BenchServer['seeded'],
  buildId: string,
): Promise<void> {
  const [suiteId, runId] = [newId(), newId()]
  await pool.query(
    `insert into test_suites (id, organization_id, slug, name, token_hash, created_by) values ($1, $2, 'unit', 'Unit', $3, $4)`,
    [suiteId, orgId, Buffer.alloc(32), userId],
  )
  await pool.query(
    `insert into test_runs (id, organization_id, suite_id, key, build_id, commit_sha, created_at, updated_at)
    values ($1, $2, $3, 'bench', $4, 'abc', now(), now())`,
    [runId, orgId, suiteId, buildId],
  )
  await pool.query(
    `insert into test_results (run_id, id, scope, name, result, failure_reason, created_at)
    select $1, gen_random_uuid(), 'Suite ' || n % 100, 'test ' || n, case when n % 33 = 0 then 'failed' else 'passed' end,
      case when n % 33 = 0 then 'expected 3 to be 4' end, now()
    from generate_series(1, $2::int) n`,
    [runId, tests],
  )
}
