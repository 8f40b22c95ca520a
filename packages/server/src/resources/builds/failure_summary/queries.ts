// Everything that a summary reads from the tables, in few statements. Each has a limit, so a build of any size costs the same.
import { sql, type RawBuilder } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { visiblePipelines } from '../../../auth/pipeline-access.ts'
import type { Db } from '../../../db/pool.ts'
import type { Statement } from '../../../db/statement.ts'
import { jobNote } from '../graph/short-json.ts'
import { shownState } from '../../job/job-json.ts'
import { testId } from '../../tests/test_runs/queries.ts'

export interface BuildRow {
  id: string
  pipeline_id: string
  pipeline_slug: string
  number: number
  state: string
  shown_state: string
  message: string | null
  branch: string
  shown_branch: string
  commit: string
  created_at: string
  started_at: string | null
  finished_at: string | null
}

export async function findBuild(
  db: Db,
  orgId: string,
  pipelineSlug: string,
  build: string,
): Promise<BuildRow | undefined> {
  const { rows } = await sql<BuildRow>`
    select b.id, b.pipeline_id, p.slug as pipeline_slug, b.number, b.state, b.shown_state, left(b.message, 300) as message,
      b.branch, left(b.branch, 300) as shown_branch, left(b.commit, 100) as commit, b.created_at, b.started_at, b.finished_at
    from pipelines p join builds b on b.pipeline_id = p.id
    where p.organization_id = ${orgId} and p.slug = ${pipelineSlug} and b.number = ${build}::int`.execute(db)
  return rows[0]
}

/**
 * For queries with `jobs j`. A running job that has promised to fail makes its build fail already. A job that waits for a key
 * which no step has can never run.
 */
const isProblem: RawBuilder<boolean> = sql`(
  j.state in ('failed', 'timed_out', 'timing_out', 'expired') or (j.state = 'running' and j.promised_hard)
  or (j.state = 'waiting_failed' and exists (select from build_refs r where r.step_id = j.step_id)))`

const inBuild = (orgId: string, buildId: string) => sql`
  j.organization_id = ${orgId} and j.build_id = ${buildId} and j.retried_in_job_id is null`

export interface CountRow {
  state: string
  is_problem: boolean
  soft_failed: boolean
  count: number
}

/** Wait steps count only if they are problems. */
export const countJobs = (orgId: string, buildId: string): Statement<CountRow> => sql<CountRow>`
  select j.state, ${isProblem} as is_problem, j.soft_failed, count(*) as count from jobs j
  where ${inBuild(orgId, buildId)} and (j.kind <> 'waiter' or ${isProblem}) group by 1, 2, 3`

export interface ProblemRow {
  id: string
  kind: 'script' | 'trigger' | 'manual' | 'waiter'
  name: string | null
  step_key: string | null
  state: string
  soft_failed: boolean
  exit_status: number | null
  signal: string | null
  signal_reason: string | null
  note: string | null
  command: string | null
  retries_count: number
  agent_name: string | null
  started_at: string | null
  finished_at: string | null
  triggered_slug: string | null
  triggered_number: number | null
}

/** Three hundred jobs fail for one reason, so each cause comes once before any comes twice; where it is not known, each step. */
export const listProblems = (
  orgId: string,
  buildId: string,
  limit: number,
): Statement<ProblemRow> => sql<ProblemRow>`
  with ranked as (
    select j.id, j.soft_failed, j.position,
      row_number() over (partition by coalesce(f.cause, j.step_id::text), j.soft_failed order by j.finished_at, j.id) as turn
    from jobs j left join log_findings f on f.job_id = j.id where ${inBuild(orgId, buildId)} and ${isProblem}
  ), shown as (
    select *, row_number() over (order by soft_failed, turn, position, id) as place from ranked
    order by place limit ${limit}
  )
  select j.id, j.kind, left(j.work ->> 'label', 300) as name, j.step_key, ${shownState} as state, j.soft_failed, j.exit_status,
    left(j.signal, 50) as signal, left(j.signal_reason, 100) as signal_reason, ${jobNote} as note,
    left(j.work ->> 'command', 300) as command, j.retries_count, left(a.name, 200) as agent_name, j.started_at, j.finished_at,
    target.slug as triggered_slug, child.number as triggered_number
  from shown join jobs j on j.id = shown.id
  left join agents a on a.id = j.agent_id
  left join builds child on child.organization_id = ${orgId} and child.id = j.triggered_build_id
  left join pipelines target on target.id = child.pipeline_id
  order by shown.place`

export interface WaitingRow {
  id: string
  name: string | null
  step_key: string | null
  state: string
  jobs: number
  /** Jobs of all places. */
  total: number
}

/** One job of each place where jobs wait. First what a person can do, then limits, queues, and steps. */
export const listWaiting = (
  orgId: string,
  buildId: string,
  limit: number,
): Statement<WaitingRow> => sql<WaitingRow>`
  with waiting as (
    select j.id, j.position, case
        when j.unblockable then 0 when j.state in ('limiting', 'limited') then 1
        when j.state in ('scheduled', 'reserved') then 2 when j.state = 'blocked' then 3 else 4 end as turn,
      case when j.unblockable then j.id::text when j.state in ('limiting', 'limited') then j.concurrency_group
        when j.state in ('scheduled', 'reserved') then concat(j.queue_id, j.agent_query_rules::text)
        else j.step_id::text end as place
    from jobs j where ${inBuild(orgId, buildId)} and j.kind <> 'waiter'
      and j.state in ('pending', 'waiting', 'blocked', 'limiting', 'limited', 'scheduled', 'reserved')
  ), places as (
    select turn, min(position) as position, (array_agg(id order by position, id))[1] as id, count(*) as jobs
    from waiting group by turn, place
  )
  select j.id, left(j.work ->> 'label', 300) as name, j.step_key, ${shownState} as state, p.jobs, p.total
  from (select *, sum(jobs) over () as total from places order by turn, position, id limit ${limit}) p
  join jobs j on j.id = p.id order by p.turn, p.position, p.id`

export interface AnnotationRow {
  id: string
  context: string
  job_id: string | null
  body: string
  is_cut: boolean
}

const mostAnnotationCharacters = 4000

export const listErrorAnnotations = (
  orgId: string,
  buildId: string,
  limit: number,
): Statement<AnnotationRow> => sql<AnnotationRow>`
  select a.id, a.context, a.job_id, left(a.body, ${mostAnnotationCharacters}) as body,
    length(a.body) > ${mostAnnotationCharacters} as is_cut
  from annotations a where a.organization_id = ${orgId} and a.build_id = ${buildId} and a.style = 'error'
  order by a.priority desc, a.created_at, a.id limit ${limit}`

export const countAnnotations = (
  orgId: string,
  buildId: string,
): Statement<{ all: number; errors: number }> => sql<{ all: number; errors: number }>`
  select count(*) as all, count(*) filter (where style = 'error') as errors from annotations
  where organization_id = ${orgId} and build_id = ${buildId}`

export interface TestRow {
  id: string
  suite_slug: string
  scope: string
  name: string
  location: string | null
  failure_reason: string | null
  failure_expanded: Array<{ expanded?: string[]; backtrace?: string[] }>
  quarantine: 'muted' | 'skipped' | null
  failed_count: number
  passed_count: number
  passed_elsewhere: boolean
  recent_failures: number
  labels: string[]
  is_known: boolean
  /** Failed tests of the build, those that are not shown included. */
  total: number
}

/** The most results that are compared with the failed ones. A larger build may miss a flaky mark. */
const mostResults = 50_000
const mostFailures = 10_000
const mostRuns = 200
const mostSuites = 20

/**
 * A test is the scope and name that results of a suite share. The runs that are compared are those of the same pipeline, which
 * the caller may read.
 */
export const listFailedTests = (
  orgId: string,
  build: Pick<BuildRow, 'id' | 'pipeline_id'>,
  limit: number,
): Statement<TestRow> => sql<TestRow>`
  with runs as (
    select r.id, r.suite_id, r.commit_sha, r.created_at from test_runs r
    where r.organization_id = ${orgId} and r.build_id = ${build.id} order by r.created_at, r.id limit ${mostRuns}
  ), failures as (
    select r.suite_id, t.run_id, t.id, t.scope, t.name, t.created_at
    from runs r join test_results t on t.run_id = r.id and t.result = 'failed' limit ${mostFailures}
  ), failed as (
    select suite_id, scope, name, count(*) as failed_count,
      (array_agg(run_id order by created_at desc, id))[1] as run_id, (array_agg(id order by created_at desc, id))[1] as id
    from failures group by suite_id, scope, name
  ), suites as (
    select suite_id, min(created_at) as created_at, array_agg(distinct commit_sha) as commits from runs
    where suite_id in (select suite_id from failed) group by suite_id limit ${mostSuites}
  ), newest as (
    select s.suite_id, near.id, near.commit_sha = any (s.commits) as is_same_commit, near.created_at < s.created_at as is_earlier,
      row_number() over (partition by s.suite_id, near.created_at < s.created_at order by near.created_at desc, near.id) as turn
    from suites s cross join lateral (
      (select r.id, r.build_id, r.commit_sha, r.created_at from test_runs r
        where r.organization_id = ${orgId} and r.suite_id = s.suite_id and r.created_at < s.created_at
        order by r.created_at desc, r.id desc limit ${mostRuns})
      union all
      (select r.id, r.build_id, r.commit_sha, r.created_at from test_runs r
        where r.organization_id = ${orgId} and r.suite_id = s.suite_id and r.created_at >= s.created_at
        order by r.created_at, r.id limit ${mostRuns})
    ) near join builds b on b.id = near.build_id
    where b.organization_id = ${orgId} and b.pipeline_id = ${build.pipeline_id} and b.id <> ${build.id}
  ), passed as (
    select suite_id, scope, name, count(*) filter (where is_here) as here, count(*) as anywhere from (
      select r.suite_id, r.is_here, t.scope, t.name from (
        select suite_id, id, true as is_here from runs where suite_id in (select suite_id from suites)
        union all (select suite_id, id, false from newest where is_same_commit limit 5)
      ) r join test_results t on t.run_id = r.id where t.result = 'passed' limit ${mostResults}
    ) results group by suite_id, scope, name
  ), recent as (
    select n.suite_id, t.scope, t.name, count(distinct n.id) as count
    from newest n join test_results t on t.run_id = n.id and t.result = 'failed'
    where n.is_earlier and n.turn <= 20 group by n.suite_id, t.scope, t.name
  ), shown as (
    select f.*, coalesce(p.here, 0) as passed_count, coalesce(p.anywhere > p.here, false) as passed_elsewhere,
      coalesce(c.count, 0) as recent_failures, count(*) over () as total
    from failed f
    left join passed p on p.suite_id = f.suite_id and p.scope = f.scope and p.name = f.name
    left join recent c on c.suite_id = f.suite_id and c.scope = f.scope and c.name = f.name
    order by coalesce(p.anywhere, 0) > 0, f.scope, f.name, f.id limit ${limit}
  )
  select ${testId} as id, s.slug as suite_slug, left(t.scope, 500) as scope, left(t.name, 500) as name,
    left(t.location, 500) as location, left(t.failure_reason, 1000) as failure_reason,
    case when pg_column_size(t.failure_expanded) < 65536 then t.failure_expanded else '[]' end as failure_expanded, t.quarantine,
    r.failed_count, r.passed_count, r.passed_elsewhere, r.recent_failures, r.total,
    array(select l.name from test_labels l where l.suite_id = r.suite_id and l.test_id = ${testId} order by l.name) as labels,
    exists (select from tests known where known.suite_id = r.suite_id and known.id = ${testId}) as is_known
  from shown r join test_results t on t.run_id = r.run_id and t.id = r.id join test_suites s on s.id = r.suite_id
  order by r.passed_count > 0 or r.passed_elsewhere, r.scope, r.name, r.id`

interface CauseRow {
  cause: string
  /** Jobs of the build. */
  jobs: number
  /** Other builds. */
  builds: number
  /** The first of them. */
  since: string | null
}

/** How far back a cause is looked for, and how many of its failures count at most. */
const causeDays = 7
const mostOfCause = 5000

/** Where else the failing rows have these fingerprints, in pipelines that the caller may read. */
export const countCauses = (
  org: Organization,
  caller: Caller,
  buildId: string,
  causes: readonly string[],
): Statement<CauseRow> => sql<CauseRow>`
  select c.cause, coalesce(here.jobs, 0) as jobs, elsewhere.builds, elsewhere.since
  from unnest(${[...causes]}::text[]) as c(cause)
  left join lateral (
    select count(*)::int as jobs from log_findings f join jobs j on j.id = f.job_id
    where f.organization_id = ${org.id} and f.build_id = ${buildId} and f.cause = c.cause and j.retried_in_job_id is null
  ) here on true
  cross join lateral (
    select count(distinct near.build_id)::int as builds, min(near.finished_at) as since from (
      select f.build_id, f.finished_at from log_findings f join pipelines p on p.id = f.pipeline_id
      where f.organization_id = ${org.id} and p.organization_id = ${org.id} and ${visiblePipelines(org, caller)}
        and f.cause = c.cause and f.build_id <> ${buildId} and f.finished_at > now() - make_interval(days => ${causeDays})
      order by f.finished_at desc limit ${mostOfCause}
    ) near
  ) elsewhere`

export interface RangeRow {
  which: 'last_passed' | 'first_failed'
  number: number
  commit: string
  state: string
  finished_at: string | null
}

/** How far back a build that passed is looked for. */
const mostEarlierBuilds = 500

/** Without a row `first_failed`, no build between the one that passed and this one failed. */
export const findRange = (orgId: string, build: BuildRow): Statement<RangeRow> => sql<RangeRow>`
  with earlier as (
    select b.number, left(b.commit, 100) as commit, b.state, b.finished_at from builds b
    where b.organization_id = ${orgId} and b.pipeline_id = ${build.pipeline_id} and b.branch = ${build.branch}
      and b.created_at <= ${build.created_at}::timestamptz and b.number < ${build.number}
    order by b.created_at desc, b.id desc limit ${mostEarlierBuilds}
  ), last_passed as (select * from earlier where state = 'passed' order by number desc limit 1)
  select 'last_passed' as which, p.* from last_passed p
  union all
  (select 'first_failed', e.* from earlier e, last_passed p where e.number > p.number and e.state = 'failed'
   order by e.number limit 1)`
