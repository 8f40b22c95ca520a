// Stores test results. Uploads with the same key belong to one run, in any order. A repeated result is stored once.
import { sql } from 'kysely'
import type { Context } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound, refused } from '../../../lib/errors.ts'
import { isUuid, newId } from '../../../lib/ids.ts'
import { suiteOfPipeline } from '../suites/of-pipeline.ts'
import * as suites from '../suites/queries.ts'
import type { SendingSuite } from '../suites/queries.ts'
import { readReport, type Report } from './read-report.ts'

export interface RunEnv {
  key: string
  branch: string | null
  commitSha: string | null
  jobId: string | null
}

export async function storeResults(
  ctx: Context,
  suite: SendingSuite,
  env: RunEnv,
  /** JSON lists of `TestResult`. */
  batches: readonly string[],
): Promise<string> {
  const at = ctx.now().toISOString()
  return inTransaction(ctx.db, async (trx) => {
    // It may have been deleted since its token was read.
    await suites.holdInOrg(trx, suite.organizationId, suite.id)
    const buildId = await findBuild(trx, suite.organizationId, env)
    const runId = await saveRun(trx, suite, env, buildId, at)
    for (const batch of batches) await addResults(trx, runId, batch, at)
    return runId
  })
}

interface StoredReport {
  runId: string
  count: number
  failed: number
  skipped: number
}

/** Jobs need no token of a suite, so their results have a limit. */
const mostResultsOfBuild = 200_000

/** Stores a file of JUnit that a job has written, in its pipeline's own suite. */
export async function storeReport(
  ctx: Context,
  organizationId: string,
  report: Report,
): Promise<StoredReport> {
  const owner = { kind: 'upload' as const, organizationId, sender: report.jobId, until: null }
  const { batches, ...counts } = await readReport(report, owner)
  const at = ctx.now().toISOString()
  const runId = await inTransaction(ctx.db, async (trx) => {
    const { build, pipelineId } = await getBuildOfJob(trx, organizationId, report.jobId)
    const suite = await suiteOfPipeline(trx, organizationId, pipelineId)
    const env = { key: build.id, branch: build.branch, commitSha: build.commit, jobId: report.jobId }
    const run = await saveRun(trx, suite, env, build.id, at)
    await checkRoom(trx, run, counts.count)
    for (const batch of batches) await addResults(trx, run, batch, at)
    return run
  })
  return { runId, ...counts }
}

interface BuildOfJob {
  build: { id: string; branch: string; commit: string }
  pipelineId: string
}

async function getBuildOfJob(trx: Trx, orgId: string, jobId: string): Promise<BuildOfJob> {
  const { rows } = await sql<BuildOfJob>`
    select json_build_object('id', b.id, 'branch', b.branch, 'commit', b.commit) as build,
      b.pipeline_id as "pipelineId"
    from jobs j join builds b on b.id = j.build_id
    where j.organization_id = ${orgId} and j.id = ${jobId}`.execute(trx)
  const [found] = rows
  if (found === undefined) throw notFound('No job found')
  return found
}

/** The run's row is locked. */
async function checkRoom(trx: Trx, runId: string, count: number): Promise<void> {
  const { rows } = await sql<{ held: number }>`
    select passed_count + failed_count + skipped_count + unknown_count as held
    from test_runs where id = ${runId}`.execute(trx)
  if ((rows[0]?.held ?? 0) + count > mostResultsOfBuild) {
    throw refused(`The jobs of a build may bring ${mostResultsOfBuild} test results.`)
  }
}

/** The build whose id is the run's key, or else the build of the job that it ran in. */
async function findBuild(trx: Trx, orgId: string, { key, jobId }: RunEnv): Promise<string | null> {
  const uuid = (text: string | null) => (text !== null && isUuid(text) ? text : null)
  const { rows } = await sql<{ id: string }>`
    select id, 1 as place from builds where organization_id = ${orgId} and id = ${uuid(key)}
    union all
    select build_id, 2 from jobs where organization_id = ${orgId} and id = ${uuid(jobId)}
    order by place limit 1`.execute(trx)
  return rows[0]?.id ?? null
}

async function saveRun(
  trx: Trx,
  suite: SendingSuite,
  { key, branch, commitSha }: RunEnv,
  buildId: string | null,
  at: string,
): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    insert into test_runs as r
      (id, organization_id, suite_id, key, build_id, branch, commit_sha, created_at, updated_at)
    values (${newId()}, ${suite.organizationId}, ${suite.id}, ${key}, ${buildId}, ${branch}, ${commitSha}, ${at}, ${at})
    on conflict (suite_id, key) do update set build_id = coalesce(r.build_id, excluded.build_id),
      branch = coalesce(r.branch, excluded.branch), commit_sha = coalesce(r.commit_sha, excluded.commit_sha),
      updated_at = greatest(r.updated_at, excluded.updated_at)
    returning id`.execute(trx)
  const [run] = rows
  if (run === undefined) throw new Error('A test run vanished while it was written.')
  return run.id
}

/** The run's row is locked, so concurrent uploads add to its counts one after the other. */
async function addResults(trx: Trx, runId: string, results: string, at: string): Promise<void> {
  await sql`
    with fresh as (
      insert into test_results (run_id, id, scope, name, location, file_name, result, failure_reason,
        failure_expanded, duration_seconds, created_at)
      select ${runId}, n.id, n.scope, n.name, n.location, n."fileName", n.result, n."failureReason",
        n."failureExpanded", n."durationSeconds", ${at}
      from jsonb_to_recordset(${results}::jsonb) as n (id uuid, scope text, name text,
        location text, "fileName" text, result text, "failureReason" text, "failureExpanded" jsonb,
        "durationSeconds" double precision)
      on conflict (run_id, id) do nothing returning result, duration_seconds
    ), added as (
      select count(*) filter (where result = 'passed') as passed, count(*) filter (where result = 'failed') as failed,
        count(*) filter (where result = 'skipped') as skipped, count(*) filter (where result = 'unknown') as unknown,
        coalesce(sum(duration_seconds), 0) as seconds
      from fresh
    )
    update test_runs r set passed_count = r.passed_count + a.passed, failed_count = r.failed_count + a.failed,
      skipped_count = r.skipped_count + a.skipped, unknown_count = r.unknown_count + a.unknown,
      duration_seconds = r.duration_seconds + a.seconds
    from added a where r.id = ${runId}`.execute(trx)
}
