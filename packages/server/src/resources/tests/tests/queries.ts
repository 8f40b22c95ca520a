// A test is the scope and name that results of a suite share, and its id is a hash of these (test_runs/add-results.ts).
import { sql, type RawBuilder } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { hasFullAccess, visiblePipelines } from '../../../auth/pipeline-access.ts'
import type { Db } from '../../../db/pool.ts'
import { testId, type FailureRow } from '../test_runs/queries.ts'

interface Counts {
  passed_count: number
  failed_count: number
  skipped_count: number
  unknown_count: number
}

interface Identity {
  id: string
  scope: string
  name: string
  location: string | null
}

export interface TestRow extends Identity, Counts {
  file_name: string | null
  /** Null: no result had a duration. */
  duration_avg: number | null
  duration_sum: number | null
  duration_min: number | null
  duration_max: number | null
}

export interface BuildTestRow extends Identity, Counts {
  latest_fail:
    | (Pick<FailureRow, 'duration' | 'failure_reason'> &
        Required<Pick<FailureRow, 'failure_expanded'>> & { id: string; timestamp: string })
    | null
}

/** Whole days in UTC, both included. */
export interface Days {
  first: string
  last: string
}

const countsOf = sql`
  count(*) filter (where t.result = 'passed') as passed_count,
  count(*) filter (where t.result = 'failed') as failed_count,
  count(*) filter (where t.result = 'skipped') as skipped_count,
  count(*) filter (where t.result = 'unknown') as unknown_count`

const newest = (column: string) => sql`(array_agg(${sql.ref(column)} order by t.created_at desc, t.id))[1]`

/** For queries with `test_days d`: hides results of pipelines that the caller may not see. */
const isVisibleDay = (org: Organization, caller: Caller) =>
  hasFullAccess(org)
    ? sql`true`
    : sql`(d.origin_id = d.suite_id or exists (
        select from pipelines p where p.organization_id = ${org.id} and p.id = d.origin_id and ${visiblePipelines(org, caller)}))`

const figures = sql`
  sum(d.passed_count)::integer as passed_count, sum(d.failed_count)::integer as failed_count,
  sum(d.skipped_count)::integer as skipped_count, sum(d.unknown_count)::integer as unknown_count,
  sum(d.duration_sum) / nullif(sum(d.timed_count), 0) as duration_avg,
  case when sum(d.timed_count) > 0 then sum(d.duration_sum) end as duration_sum,
  min(d.duration_min) as duration_min, max(d.duration_max) as duration_max`

const columns = sql`
  t.id, t.scope, t.name, t.location, t.file_name, coalesce(f.passed_count, 0) as passed_count,
  coalesce(f.failed_count, 0) as failed_count, coalesce(f.skipped_count, 0) as skipped_count,
  coalesce(f.unknown_count, 0) as unknown_count, f.duration_avg, f.duration_sum, f.duration_min, f.duration_max`

/** The tests that ran in these days in what the caller may see, slowest first. */
export async function listOfSuite(
  db: Db,
  org: Organization,
  caller: Caller,
  suiteId: string,
  { first, last }: Days,
  page: { limit: number; offset: number },
): Promise<TestRow[]> {
  const { rows } = await sql<TestRow>`
    with figures as (
      select d.test_id, ${figures} from test_days d
      where d.suite_id = ${suiteId} and d.day between ${first} and ${last} and ${isVisibleDay(org, caller)}
      group by d.test_id
    )
    select ${columns} from figures f
    join tests t on t.organization_id = ${org.id} and t.suite_id = ${suiteId} and t.id = f.test_id
    order by f.duration_avg desc nulls last, t.id limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

export const findById = (
  db: Db,
  org: Organization,
  caller: Caller,
  suiteId: string,
  id: string,
  days: Days,
): Promise<TestRow | undefined> => find(db, org, caller, suiteId, sql`t.id = ${id}`, days)

export const findByName = (
  db: Db,
  org: Organization,
  caller: Caller,
  suiteId: string,
  { scope, name }: { scope: string; name: string },
  days: Days,
): Promise<TestRow | undefined> => {
  const id = sql`md5(${suiteId}::text || chr(31) || ${scope}::text || chr(31) || ${name}::text)::uuid`
  return find(db, org, caller, suiteId, sql`t.id = ${id} and t.scope = ${scope} and t.name = ${name}`, days)
}

/** A test that did not run in these days is found too. */
async function find(
  db: Db,
  org: Organization,
  caller: Caller,
  suiteId: string,
  condition: RawBuilder<unknown>,
  { first, last }: Days,
): Promise<TestRow | undefined> {
  const visible = isVisibleDay(org, caller)
  const { rows } = await sql<TestRow>`
    select ${columns} from tests t
    cross join lateral (
      select ${figures} from test_days d
      where d.suite_id = t.suite_id and d.test_id = t.id and d.day between ${first} and ${last} and ${visible}
    ) f
    where t.organization_id = ${org.id} and t.suite_id = ${suiteId} and ${condition}
      and ${
        hasFullAccess(org)
          ? sql`true`
          : sql`exists (select from test_days d where d.suite_id = t.suite_id and d.test_id = t.id and ${visible})`
      }`.execute(db)
  return rows[0]
}

export async function isBuildVisible(
  db: Db,
  org: Organization,
  caller: Caller,
  buildId: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from builds b join pipelines p on p.id = b.pipeline_id
    where b.organization_id = ${org.id} and b.id = ${buildId} and ${visiblePipelines(org, caller)}`.execute(
    db,
  )
  return rows.length > 0
}

interface BuildTestFilter {
  result: 'failed' | 'passed' | '^failed' | '^passed' | undefined
  withLatestFail: boolean
}

/** The tests of all suites that ran in a build, those that failed first. */
export async function listOfBuild(
  db: Db,
  orgId: string,
  buildId: string,
  { result, withLatestFail }: BuildTestFilter,
  page: { limit: number; offset: number },
): Promise<BuildTestRow[]> {
  const wanted = result?.replace('^', '')
  const { rows } = await sql<BuildTestRow>`
    select ${testId} as id, t.scope, t.name, ${newest('t.location')} as location, ${countsOf},
      ${
        withLatestFail
          ? sql`(array_agg(jsonb_build_object('id', t.id, 'timestamp', to_char(t.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'duration', t.duration_seconds,
              'failure_reason', t.failure_reason, 'failure_expanded', t.failure_expanded)
              order by t.created_at desc, t.id) filter (where t.result = 'failed'))[1]`
          : sql`null`
      } as latest_fail
    from test_runs r join test_results t on t.run_id = r.id
    where r.organization_id = ${orgId} and r.build_id = ${buildId}
    group by r.suite_id, t.scope, t.name
    having ${
      wanted === undefined
        ? sql`true`
        : result === wanted
          ? sql`bool_or(t.result = ${wanted})`
          : sql`bool_and(t.result = ${wanted})`
    }
    order by failed_count desc, t.scope, t.name, id limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}
