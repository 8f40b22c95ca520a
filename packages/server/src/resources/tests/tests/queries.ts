// Tests have no table. A test is the scope and name that results of a suite share, and its id is a hash of these.
import { sql, type RawBuilder } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { visiblePipelines } from '../../../auth/pipeline-access.ts'
import type { Db } from '../../../db/pool.ts'
import { isVisible, testId, type FailureRow } from '../test_runs/queries.ts'

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
  duration_avg: number
  duration_sum: number
  duration_min: number
  duration_max: number
}

export interface BuildTestRow extends Identity, Counts {
  latest_fail:
    | (Pick<FailureRow, 'duration' | 'failure_reason'> &
        Required<Pick<FailureRow, 'failure_expanded'>> & { id: string; timestamp: string })
    | null
}

/** Limits the cost of the figures of a busy suite. */
const mostRuns = 100

const countsOf = sql`
  count(*) filter (where t.result = 'passed') as passed_count,
  count(*) filter (where t.result = 'failed') as failed_count,
  count(*) filter (where t.result = 'skipped') as skipped_count,
  count(*) filter (where t.result = 'unknown') as unknown_count`

const newest = (column: string) => sql`(array_agg(${sql.ref(column)} order by t.created_at desc, t.id))[1]`

/** The tests of the newest runs that the caller may see, slowest first. */
export async function listOfSuite(
  db: Db,
  org: Organization,
  caller: Caller,
  suiteId: string,
  page: { limit: number; offset: number },
): Promise<TestRow[]> {
  return select(db, org, caller, suiteId, sql`true`, page)
}

export async function findById(
  db: Db,
  org: Organization,
  caller: Caller,
  suiteId: string,
  id: string,
): Promise<TestRow | undefined> {
  const [row] = await select(db, org, caller, suiteId, sql`${testId} = ${id}`, { limit: 1, offset: 0 })
  return row
}

export async function findByName(
  db: Db,
  org: Organization,
  caller: Caller,
  suiteId: string,
  test: { scope: string; name: string },
): Promise<TestRow | undefined> {
  const isIt = sql`t.scope = ${test.scope} and t.name = ${test.name}`
  const [row] = await select(db, org, caller, suiteId, isIt, { limit: 1, offset: 0 })
  return row
}

async function select(
  db: Db,
  org: Organization,
  caller: Caller,
  suiteId: string,
  condition: RawBuilder<unknown>,
  page: { limit: number; offset: number },
): Promise<TestRow[]> {
  const { rows } = await sql<TestRow>`
    with seen as (
      select r.id, r.suite_id from test_runs r left join builds b on b.id = r.build_id
      where r.organization_id = ${org.id} and r.suite_id = ${suiteId} and ${isVisible(org, caller)}
      order by r.created_at desc, r.id desc limit ${mostRuns}
    )
    select ${testId} as id, t.scope, t.name, ${newest('t.location')} as location,
      ${newest('t.file_name')} as file_name, ${countsOf},
      coalesce(avg(t.duration_seconds), 0) as duration_avg, coalesce(sum(t.duration_seconds), 0) as duration_sum,
      coalesce(min(t.duration_seconds), 0) as duration_min, coalesce(max(t.duration_seconds), 0) as duration_max
    from seen r join test_results t on t.run_id = r.id where ${condition}
    group by r.suite_id, t.scope, t.name order by duration_avg desc, id
    limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
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
