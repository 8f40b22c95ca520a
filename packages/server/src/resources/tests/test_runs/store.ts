// Stores test results. Uploads with the same key belong to one run, in any order. A repeated result is stored once.
import { sql } from 'kysely'
import { originsOf } from '../../../conductor/trust.ts'
import type { Context } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound, refused } from '../../../lib/errors.ts'
import { isUuid, newId } from '../../../lib/ids.ts'
import { indexLate } from './index-late.ts'
import { suiteOfPipeline } from '../suites/of-pipeline.ts'
import * as suites from '../suites/queries.ts'
import type { SendingSuite } from '../suites/queries.ts'
import { addBatches, type OpenRun } from './add-results.ts'
import { testIdOf } from './queries.ts'
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
    const run = await saveRun(trx, suite, env, buildId, at)
    await addBatches(trx, run, batches, at)
    if (run.jobId !== null) await indexLate(trx, suite.organizationId, run.jobId)
    return run.id
  })
}

interface StoredReport {
  runId: string
  count: number
  failed: number
  skipped: number
  /** Failed results that do not count. */
  quarantined: QuarantinedFailure[]
}

/** Jobs need no token of a suite, so their results have a limit. */
const mostResultsOfBuild = 200_000

/** Stores a file that a job has written, in its pipeline's own suite. */
export async function storeReport(
  ctx: Context,
  organizationId: string,
  report: Report,
): Promise<StoredReport> {
  const owner = { kind: 'upload' as const, organizationId, sender: report.jobId, until: null }
  const { batches, failedIds, count, skipped } = await readReport(report, owner)
  const at = ctx.now().toISOString()
  const stored = await inTransaction(ctx.db, async (trx) => {
    const { build, pipelineId } = await getBuildOfJob(trx, organizationId, report.jobId)
    const suite = await suiteOfPipeline(trx, organizationId, pipelineId)
    const env = { key: build.id, branch: build.branch, commitSha: build.commit, jobId: report.jobId }
    const run = await saveRun(trx, suite, env, build.id, at)
    await checkRoom(trx, run.id, count)
    await addBatches(trx, run, batches, at)
    if (failedIds.length > 0) await indexLate(trx, organizationId, report.jobId)
    return { runId: run.id, quarantined: await listQuarantined(trx, run, failedIds) }
  })
  return { ...stored, count, failed: failedIds.length, skipped }
}

interface QuarantinedFailure {
  scope: string
  name: string
  state: 'muted' | 'skipped'
  reason: string | null
  owner: string | null
  expires_at: string | null
}

/** As of when the results came: a file that is sent again gets the same answer. */
async function listQuarantined(
  trx: Trx,
  run: OpenRun,
  failedIds: readonly string[],
): Promise<QuarantinedFailure[]> {
  if (failedIds.length === 0) return []
  const { rows } = await sql<QuarantinedFailure>`
    select t.scope, t.name, t.quarantine as state, k.quarantine_reason as reason, u.name as owner,
      k.quarantine_expires_at as expires_at
    from test_results t
    left join tests k on k.suite_id = ${run.suiteId} and k.id = ${testIdOf(run.suiteId, 't')}
    left join users u on u.id = k.quarantine_owner_id
    where t.run_id = ${run.id} and t.id = any (${[...failedIds]}::uuid[]) and t.quarantine is not null
    order by t.scope, t.name, t.id`.execute(trx)
  return rows
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

const uuid = (text: string | null): string | null => (text !== null && isUuid(text) ? text : null)

/** The build whose id is the run's key, or else the build of the job that it ran in. */
async function findBuild(trx: Trx, orgId: string, { key, jobId }: RunEnv): Promise<string | null> {
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
  { key, branch, commitSha, jobId }: RunEnv,
  buildId: string | null,
  at: string,
): Promise<OpenRun> {
  const { organizationId, id: suiteId } = suite
  const isOfFork = buildId !== null && (await originsOf(trx, organizationId, buildId)).isFork
  const { rows } = await sql<Pick<OpenRun, 'id' | 'originId' | 'fromFork'>>`
    insert into test_runs as r
      (id, organization_id, suite_id, key, build_id, branch, commit_sha, from_fork, created_at, updated_at)
    values (${newId()}, ${organizationId}, ${suiteId}, ${key}, ${buildId}, ${branch}, ${commitSha}, ${isOfFork}, ${at}, ${at})
    on conflict (suite_id, key) do update set build_id = coalesce(r.build_id, excluded.build_id),
      branch = coalesce(r.branch, excluded.branch), commit_sha = coalesce(r.commit_sha, excluded.commit_sha),
      from_fork = r.from_fork or excluded.from_fork, updated_at = greatest(r.updated_at, excluded.updated_at)
    returning id, from_fork as "fromFork",
      coalesce((select b.pipeline_id from builds b where b.id = r.build_id), r.suite_id) as "originId"`.execute(
    trx,
  )
  const [run] = rows
  if (run === undefined) throw new Error('A test run vanished while it was written.')
  const job = await findJob(trx, organizationId, jobId)
  return { ...run, organizationId, suiteId, jobId: job?.id ?? null, variant: job?.variant ?? null }
}

/** `variant` is the same for the retries of a job, and for the same job of other builds. */
async function findJob(
  trx: Trx,
  orgId: string,
  jobId: string | null,
): Promise<{ id: string; variant: string } | undefined> {
  const { rows } = await sql<{ id: string; variant: string }>`
    select id, md5(concat_ws(chr(31), step_key, work ->> 'label', work ->> 'matrix'))::uuid as variant
    from jobs where organization_id = ${orgId} and id = ${uuid(jobId)}`.execute(trx)
  return rows[0]
}
