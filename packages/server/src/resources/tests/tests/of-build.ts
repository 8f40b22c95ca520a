// The tests of one build, of all suites.
import { sql } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { visiblePipelines } from '../../../auth/pipeline-access.ts'
import type { Db } from '../../../db/pool.ts'
import { testId, type FailureRow } from '../test_runs/queries.ts'
import {
  choiceOf,
  directions,
  orderIn,
  type Counts,
  type Identity,
  type TestFilter,
  type TestOrder,
  type TestState,
} from './queries.ts'

export interface BuildTestRow extends Identity, Counts {
  suite_slug: string
  file_name: string | null
  /** The suite has the test. Tests that only builds of forks have run are in none. */
  is_known: boolean
  state: TestState
  labels: string[]
  owner: string | null
  duration_avg: number | null
  duration_sum: number | null
  duration_min: number | null
  duration_max: number | null
  latest_fail:
    | (Pick<FailureRow, 'duration' | 'failure_reason'> &
        Required<Pick<FailureRow, 'failure_expanded'>> & { id: string; timestamp: string })
    | null
}

const countsOf = sql`
  count(*) filter (where t.result = 'passed') as passed_count,
  count(*) filter (where t.result = 'failed') as failed_count,
  count(*) filter (where t.result = 'skipped') as skipped_count,
  count(*) filter (where t.result = 'unknown') as unknown_count`

const newest = (column: string) => sql`(array_agg(${sql.ref(column)} order by t.created_at desc, t.id))[1]`

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
  state: string | null
  chosen: Pick<TestFilter, 'withLabels' | 'withoutLabels' | 'owners'>
  /** Null: those that failed first. */
  order: TestOrder | null
  withLatestFail: boolean
}

/** The tests of all suites that ran in a build, those that failed first. */
export async function listOfBuild(
  db: Db,
  orgId: string,
  buildId: string,
  { result, state, chosen, order, withLatestFail }: BuildTestFilter,
  page: { limit: number; offset: number },
): Promise<BuildTestRow[]> {
  const wanted = result?.replace('^', '')
  const { rows } = await sql<BuildTestRow>`
    with ran as (
      select ${testId} as id, r.suite_id, t.scope, t.name, ${newest('t.location')} as location,
        ${newest('t.file_name')} as file_name, ${countsOf}, avg(t.duration_seconds) as duration_avg,
        sum(t.duration_seconds) as duration_sum, min(t.duration_seconds) as duration_min, max(t.duration_seconds) as duration_max,
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
    )
    select ran.*, s.slug as suite_slug, known.id is not null as is_known, coalesce(known.state, 'enabled') as state, known.owner,
      array(select l.name from test_labels l where l.suite_id = ran.suite_id and l.test_id = ran.id order by l.name) as labels
    from ran join test_suites s on s.id = ran.suite_id
    left join tests known on known.suite_id = ran.suite_id and known.id = ran.id
    where (${state}::text is null or coalesce(known.state, 'enabled') = ${state}) and ${choiceOf(chosen, 'known')}
    order by ${order === null ? sql`ran.failed_count desc` : sql`${orderIn('ran', order.by)} ${directions[order.direction]} nulls last`},
      ran.scope, ran.name, ran.id limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}
