import { sql, type RawBuilder } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Db } from '../../../db/pool.ts'
import { notFound } from '../../../lib/errors.ts'
import { isVisibleRun } from '../suites/visible-results.ts'

export interface FailureRow {
  scope: string
  name: string
  location: string | null
  file_name: string | null
  failure_reason: string | null
  failure_expanded?: Array<{ expanded: string[]; backtrace: string[] }>
  duration: number | null
}

export interface RunRow {
  id: string
  /** Uploads with the same key belong to one run. */
  key: string
  build_id: string | null
  /** Null without a build. */
  build_path: string | null
  suite_id: string
  suite_slug: string
  /** Its build has not finished. */
  is_running: boolean
  branch: string | null
  commit_sha: string | null
  passed_count: number
  failed_count: number
  skipped_count: number
  unknown_count: number
  duration_seconds: number
  failures: FailureRow[]
  created_at: string
  updated_at: string
}

interface ShownFailures {
  most: number
  expanded: boolean
}

const outline: ShownFailures = { most: 20, expanded: false }
const details: ShownFailures = { most: 200, expanded: true }

const select = ({ most, expanded }: ShownFailures): RawBuilder<RunRow> => sql`
  select r.id, r.key, r.build_id, p.slug || '/builds/' || b.number as build_path, s.id as suite_id, s.slug as suite_slug, b.id is not null and b.finished_at is null as is_running,
    r.branch, r.commit_sha, r.passed_count, r.failed_count, r.skipped_count, r.unknown_count, r.duration_seconds,
    (select coalesce(json_agg(f), '[]') from (
      select t.scope, t.name, t.location, t.file_name, t.failure_reason,
        ${expanded ? sql`t.failure_expanded,` : sql``} t.duration_seconds as duration
      from test_results t where t.run_id = r.id and t.result = 'failed' order by t.created_at, t.id limit ${most}
    ) f) as failures, r.created_at, r.updated_at
  from test_runs r join test_suites s on s.id = r.suite_id left join builds b on b.id = r.build_id
    left join pipelines p on p.id = b.pipeline_id`

export interface FailedExecutionRow {
  id: string
  test_id: string
  /** The suite has the test. */
  is_known: boolean
  scope: string
  name: string
  location: string | null
  failure_reason: string | null
  failure_expanded: Array<{ expanded: string[]; backtrace: string[] }>
  duration: number | null
  tags: Record<string, string>
  created_at: string
}

const hashOf = (suiteId: RawBuilder<unknown>, test: string): RawBuilder<string> => {
  const [scope, name] = [sql.ref(`${test}.scope`), sql.ref(`${test}.name`)]
  return sql`md5(${suiteId}::text || chr(31) || ${scope} || chr(31) || ${name})::uuid`
}

/** For queries with `test_runs r` and `test_results t`. A test is identified by scope and name within its suite. */
export const testId: RawBuilder<string> = hashOf(sql`r.suite_id`, 't')

/** The same for rows with a scope and a name. */
export const testIdOf = (suiteId: string, rows: string): RawBuilder<string> => hashOf(sql`${suiteId}`, rows)

/** For queries with `test_results t` and its `execution_tags e`, if any: what the sender said, and what was set afterwards. */
export const tagsOf = sql`coalesce(t.tags, '{}') || coalesce(e.tags, '{}')`

interface Page {
  limit: number
  offset: number
}

export async function listOfBuild(db: Db, orgId: string, buildId: string, page: Page): Promise<RunRow[]> {
  const { rows } = await sql<RunRow>`${select(outline)}
    where r.organization_id = ${orgId} and r.build_id = ${buildId}
    order by r.created_at, r.id limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

/** Newest first. */
export async function listOfSuite(
  db: Db,
  org: Organization,
  caller: Caller,
  suiteId: string,
  { buildId, branch }: { buildId: string | undefined; branch: string | undefined },
  page: Page,
): Promise<RunRow[]> {
  const { rows } = await sql<RunRow>`${select(outline)}
    where r.organization_id = ${org.id} and r.suite_id = ${suiteId} and ${isVisibleRun(org, caller)}
      and ${buildId === undefined ? sql`true` : sql`r.build_id = ${buildId}`}
      and ${branch === undefined ? sql`true` : sql`r.branch = ${branch}`}
    order by r.created_at desc, r.id desc limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

export async function getInSuite(
  db: Db,
  org: Organization,
  caller: Caller,
  suiteSlug: string,
  id: string,
): Promise<RunRow> {
  const { rows } = await sql<RunRow>`${select(details)}
    where r.organization_id = ${org.id} and s.slug = ${suiteSlug} and r.id = ${id}
      and ${isVisibleRun(org, caller)}`.execute(db)
  const [run] = rows
  if (run === undefined) throw notFound('No test run found')
  return run
}

export async function listFailedExecutions(
  db: Db,
  orgId: string,
  runId: string,
  page: Page,
): Promise<FailedExecutionRow[]> {
  const { rows } = await sql<FailedExecutionRow>`
    select t.id, ${testId} as test_id,
      exists (select from tests known where known.suite_id = r.suite_id and known.id = ${testId}) as is_known,
      t.scope, t.name, t.location, t.failure_reason, t.failure_expanded, t.duration_seconds as duration, ${tagsOf} as tags, t.created_at
    from test_results t join test_runs r on r.id = t.run_id
      left join execution_tags e on e.suite_id = r.suite_id and e.execution_id = t.id
    where r.organization_id = ${orgId} and r.id = ${runId} and t.result = 'failed'
    order by t.created_at, t.id limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}
