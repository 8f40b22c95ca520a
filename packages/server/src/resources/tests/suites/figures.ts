// What the list of suites says of each: one statement for any number of suites. Only counts of runs are read, never single results.
import { sql } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { hasFullAccess } from '../../../auth/pipeline-access.ts'
import type { Db } from '../../../db/pool.ts'
import { isVisibleRun, isVisibleTest } from './visible-results.ts'

interface LastRun {
  id: string
  branch: string | null
  created_at: string
  /** Null without a build. */
  build_path: string | null
  is_running: boolean
  passed_count: number
  failed_count: number
  skipped_count: number
  unknown_count: number
}

export interface FiguresRow {
  suite_id: string
  tests_count: number
  flaky_count: number
  muted_count: number
  skipped_count: number
  reliability: number | null
  duration_p50: number | null
  last_run: LastRun | null
}

const countedDays = 7
const mostCounted = 200

/** Runs of forks do not count, as in the figures of tests. */
const visibleRuns = (org: Organization, caller: Caller) => sql`
  test_runs r left join builds b on b.id = r.build_id
  where r.organization_id = ${org.id} and r.suite_id = s.id and not r.from_fork and ${isVisibleRun(org, caller)}`

/** So many tests are looked at, to see whether the caller sees them. */
const mostProbed = 5000

/**
 * For queries with `test_suites s`. A larger suite is estimated for those who do not see all pipelines: ids are hashes, so the
 * first ones are any of its tests.
 */
const testsCount = (org: Organization, caller: Caller) => {
  const all = sql`(select count(*) from tests t where t.suite_id = s.id)`
  if (hasFullAccess(org)) return sql`${all}::integer`
  return sql`(
    select round(probed.visible * greatest(1, ${all} / ${sql.lit(mostProbed)}::numeric))::integer from (
      select count(*) as visible from (
        select t.suite_id, t.id from tests t where t.suite_id = s.id order by t.id limit ${mostProbed}
      ) t where ${isVisibleTest(org, caller)}
    ) probed)`
}

export async function listFigures(
  db: Db,
  org: Organization,
  caller: Caller,
  suiteIds: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, FiguresRow>> {
  const since = new Date(now.getTime() - countedDays * 24 * 60 * 60 * 1000).toISOString()
  const { rows } = await sql<FiguresRow>`
    select s.id as suite_id, ${testsCount(org, caller)} as tests_count, (
        select count(*)::integer from test_labels l join tests t on t.suite_id = l.suite_id and t.id = l.test_id
        where l.suite_id = s.id and l.name = 'flaky' and ${isVisibleTest(org, caller)}
      ) as flaky_count, quarantined.muted as muted_count, quarantined.skipped as skipped_count,
      counted.passed / nullif(counted.passed + counted.failed, 0) as reliability, counted.duration_p50, (
        select json_build_object('id', r.id, 'branch', r.branch, 'created_at', iso(r.created_at),
          'build_path', (select p.slug from pipelines p where p.id = b.pipeline_id) || '/builds/' || b.number,
          'is_running', b.id is not null and b.finished_at is null, 'passed_count', r.passed_count,
          'failed_count', r.failed_count, 'skipped_count', r.skipped_count, 'unknown_count', r.unknown_count)
        from ${visibleRuns(org, caller)} order by r.created_at desc, r.id desc limit 1
      ) as last_run
    from test_suites s
    cross join lateral (
      select count(*) filter (where t.state = 'muted')::integer as muted,
        count(*) filter (where t.state = 'skipped')::integer as skipped
      from tests t where t.suite_id = s.id and t.state <> 'enabled' and ${isVisibleTest(org, caller)}
    ) quarantined
    cross join lateral (
      select sum(n.passed_count)::double precision as passed, sum(n.failed_count)::double precision as failed,
        percentile_cont(0.5) within group (order by n.duration_seconds)
          filter (where n.has_ended and n.duration_seconds > 0) as duration_p50
      from (
        select r.passed_count, r.failed_count, r.duration_seconds, b.id is null or b.finished_at is not null as has_ended
        from ${visibleRuns(org, caller)} and r.created_at >= ${since}
        order by r.created_at desc, r.id desc limit ${mostCounted}
      ) n
    ) counted
    where s.organization_id = ${org.id} and s.id = any (${[...suiteIds]}::uuid[])`.execute(db)
  return new Map(rows.map((row) => [row.suite_id, row]))
}
