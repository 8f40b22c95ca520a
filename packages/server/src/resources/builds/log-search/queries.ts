// SQL of log searches. Every query names the organization, and reads only of pipelines that the caller may read.
import { sql, type RawBuilder } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { visiblePipelines } from '../../../auth/pipeline-access.ts'
import type { Db } from '../../../db/pool.ts'
import { shownState } from '../../job/job-json.ts'
import { visibleSuites } from '../../tests/suites/queries.ts'
import { testId } from '../../tests/test_runs/queries.ts'
import { hasFailed } from '../log/findings/queries.ts'
import type { Source } from '../log/findings/said.ts'
import type { Filters } from './rules.ts'

export interface Scope {
  org: Organization
  caller: Caller
  filters: Filters
  /** What every log with a match contains, in lower case. */
  needles: readonly string[]
}

export interface Position {
  at: string
  id: string
}

/** The job of a hit, and its build. */
export interface JobOfHit {
  job_id: string
  name: string | null
  step_key: string | null
  state: string
  build_id: string
  number: number
  pipeline_slug: string
  branch: string
  created_at: string
}

const jobOfHit = sql`
  j.id as job_id, left(j.work ->> 'label', 300) as name, j.step_key, ${shownState} as state, b.id as build_id, b.number,
  p.slug as pipeline_slug, left(b.branch, 300) as branch, b.created_at`

const all = (conditions: ReadonlyArray<RawBuilder<unknown>>) =>
  conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `)

const given = (value: string | undefined, condition: (value: string) => RawBuilder<unknown>) =>
  value === undefined ? [] : [condition(value)]

/** For queries with `pipelines p` and `builds b`. */
const buildsWanted = ({ org, caller, filters }: Scope) =>
  all([
    sql`p.organization_id = ${org.id} and b.organization_id = ${org.id}`,
    visiblePipelines(org, caller),
    ...given(filters.pipeline, (slug) => sql`p.slug = ${slug}`),
    ...given(filters.branch, (branch) => sql`b.branch = ${branch}`),
    ...given(filters.from, (from) => sql`b.created_at >= ${from}::timestamptz`),
    ...given(filters.to, (to) => sql`b.created_at < ${to}::timestamptz`),
  ])

/** For queries with `jobs j`. */
const jobsWanted = ({ org, filters }: Scope) =>
  all([
    sql`j.organization_id = ${org.id}`,
    ...given(filters.state, (state) => sql`${shownState} = ${state}`),
    ...given(filters.step, (step) => sql`(j.step_key = ${step} or j.work ->> 'label' = ${step})`),
  ])

const mostNeedles = 8

/** Written as the index on the text is. */
const textContains = (needles: readonly string[]) =>
  all(
    needles
      .toSorted((a, b) => b.length - a.length)
      .slice(0, mostNeedles)
      .map((needle) => sql`lower(f.text collate "C") like ${`%${needle.replace(/[\\%_]/g, '\\$&')}%`}`),
  )

interface FoundJob extends Position {
  isWanted: boolean
}

const before = (after: Position | null, at: RawBuilder<unknown>, id: RawBuilder<unknown>) =>
  after === null ? sql`true` : sql`(${at}, ${id}) < (${after.at}::timestamptz, ${after.id}::uuid)`

/** The rest of a build, or what comes after it. */
export interface BuildPosition extends Position {
  /** So many logs of the build have been searched. null: all. */
  place: number | null
}

const buildsFrom = (after: BuildPosition | null) =>
  after === null
    ? sql`true`
    : sql`((b.created_at, b.id) < (${after.at}::timestamptz, ${after.id}::uuid) or ${after.place !== null} and b.id = ${after.id}::uuid)`

const findingsBefore = (after: Position | null) => before(after, sql`f.finished_at`, sql`f.job_id`)

/** For queries with `jobs j` and `builds b`. A job that passed may report in an annotation what failed in its build. */
const isOfFailure = sql`(${hasFailed} or b.state in ('failed', 'failing'))`

const findingsWanted = (scope: Scope) => sql`
  exists (select from jobs j join builds b on b.id = j.build_id join pipelines p on p.id = b.pipeline_id
    where j.id = f.job_id and ${buildsWanted(scope)} and ${jobsWanted(scope)} and ${isOfFailure})`

/** The next failed jobs in order of time, and whether each may have a match. Reads no more than these. */
export async function listFindings(
  db: Db,
  scope: Scope,
  { after, limit }: { after: Position | null; limit: number },
): Promise<FoundJob[]> {
  const { rows } = await sql<FoundJob>`
    select f.job_id as id, f.finished_at as at,
      ${findingsWanted(scope)} and ${textContains(scope.needles)} as "isWanted"
    from (select * from log_findings f where f.organization_id = ${scope.org.id} and ${findingsBefore(after)}
      order by f.finished_at desc, f.job_id desc limit ${limit}) f
    order by f.finished_at desc, f.job_id desc`.execute(db)
  return rows
}

/** Those that may have a match, however far back. Reads them from the index on the text, if there is one. */
export async function findFindings(
  db: Db,
  scope: Scope,
  { after, limit }: { after: Position | null; limit: number },
): Promise<Position[]> {
  const { rows } = await sql<Position>`
    with found as materialized (
      select f.job_id, f.finished_at from log_findings f
      where f.organization_id = ${scope.org.id} and ${textContains(scope.needles)} and ${findingsBefore(after)})
    select f.job_id as id, f.finished_at as at from found f where ${findingsWanted(scope)}
    order by f.finished_at desc, f.job_id desc limit ${limit}`.execute(db)
  return rows
}

export interface FindingsOfJob extends JobOfHit {
  text: string
  /** Below 0: minus the number of the source, from 1 on. */
  rows: number[]
  sources: Source[]
}

/** In no order. */
export async function readFindings(
  db: Db,
  scope: Scope,
  jobIds: readonly string[],
): Promise<FindingsOfJob[]> {
  const { rows } = await sql<FindingsOfJob>`
    select ${jobOfHit}, f.text, f.rows, f.sources
    from log_findings f join jobs j on j.id = f.job_id join builds b on b.id = j.build_id
    join pipelines p on p.id = b.pipeline_id
    where f.organization_id = ${scope.org.id} and f.job_id = any (${[...jobIds]}::uuid[]) and ${buildsWanted(scope)}
      and ${jobsWanted(scope)} and ${isOfFailure}`.execute(db)
  return rows
}

/** What is not the log of a job. */
export interface FoundSource {
  kind: 'annotation' | 'test_failure'
  id: string
  /** The context of the annotation, or the scope and name of the test. */
  name: string
  test_id: string | null
  /** null: the test has no page, or none that the caller may open. */
  suite_slug: string | null
}

/** Those that still say what was found there. */
export async function readSources(
  db: Db,
  { org, caller }: Scope,
  sources: readonly Source[],
): Promise<FoundSource[]> {
  const { rows } = await sql<FoundSource>`
    with given as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(sources)}::jsonb) as g (kind text, id uuid, run_id uuid, at timestamptz))
    select g.kind, g.id, left(a.context, 300) as name, null::uuid as test_id, null as suite_slug
    from given g join annotations a on a.id = g.id and a.updated_at = g.at
    where a.organization_id = ${org.id} and a.style = 'error'
    union all
    select g.kind, g.id, left(concat_ws(' ', nullif(t.scope, ''), t.name), 300), ${testId}, s.slug
    from given g join test_results t on t.run_id = g.run_id and t.id = g.id join test_runs r on r.id = t.run_id
      left join test_suites s on s.id = r.suite_id and ${visibleSuites(org, caller)}
        and exists (select from tests known where known.suite_id = r.suite_id and known.id = ${testId})
    where r.organization_id = ${org.id}`.execute(db)
  return rows
}

/** Up to `most`. */
export async function countFindings(
  db: Db,
  scope: Scope,
  after: Position | null,
  most: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select from log_findings f where f.organization_id = ${scope.org.id} and ${findingsBefore(after)}
        and ${findingsWanted(scope)} limit ${most}) f`.execute(db)
  return rows[0]?.count ?? 0
}

/** For queries with `jobs j`: it has run, and its log was not deleted. */
const hasLog = sql`j.kind = 'script' and j.started_at is not null and l.deleted_at is null`

/** For queries with `job_logs l`: a sketch does not rule it out. */
const mayContain = (bits: readonly number[]) =>
  all(
    bits.map(
      (bit) => sql`(l.sketch is null or get_byte(substring(l.sketch from
        ((${bit}::int & (octet_length(l.sketch) * 8 - 1)) >> 3) + 1 for 1), 0) >> (${bit}::int & 7) & 1 = 1)`,
    ),
  )

export interface BuildOfLogs extends Position {
  /** How many logs its jobs have. */
  logs: number
  /** Those that no sketch rules out, in the order of the build. `place`: how many logs come before. */
  jobs: Array<JobOfHit & { place: number }>
}

/** The next builds, newest first. Builds without logs are left out. */
export async function listBuilds(
  db: Db,
  scope: Scope,
  { after, limit, bits }: { after: BuildPosition | null; limit: number; bits: readonly number[] },
): Promise<{ builds: BuildOfLogs[]; last: BuildPosition | null }> {
  const { rows } = await sql<Position & { logs: number; jobs: BuildOfLogs['jobs'] | null }>`
    select s.id, s.created_at as at, found.logs, found.jobs from (
      select b.id, b.created_at, b.number, b.branch, p.slug from builds b join pipelines p on p.id = b.pipeline_id
      where ${buildsWanted(scope)} and ${buildsFrom(after)}
      order by b.created_at desc, b.id desc limit ${limit}
    ) s cross join lateral (
      select count(*)::int as logs,
        jsonb_agg(jsonb_build_object('job_id', o.id, 'name', o.name, 'step_key', o.step_key, 'state', o.state, 'build_id', s.id,
          'number', s.number, 'pipeline_slug', s.slug, 'branch', left(s.branch, 300), 'created_at', iso(s.created_at),
          'place', o.place) order by o.place) filter (where o.is_possible) as jobs
      from (
        select j.id, left(j.work ->> 'label', 300) as name, j.step_key, ${shownState} as state,
          row_number() over (order by j.position, j.created_at, j.id) - 1 as place, ${mayContain(bits)} as is_possible
        from jobs j left join job_logs l on l.job_id = j.id
        where j.build_id = s.id and ${hasLog} and ${jobsWanted(scope)}
      ) o
    ) found
    order by s.created_at desc, s.id desc`.execute(db)
  const last = rows.at(-1)
  return {
    builds: rows.flatMap(({ id, at, logs, jobs }) =>
      logs === 0 ? [] : [{ id, at, logs, jobs: jobs ?? [] }],
    ),
    last: last === undefined ? null : { at: last.at, id: last.id, place: null },
  }
}

/** Up to `most`. */
export async function countLogs(
  db: Db,
  scope: Scope,
  after: BuildPosition | null,
  most: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select from builds b join pipelines p on p.id = b.pipeline_id join jobs j on j.build_id = b.id
      left join job_logs l on l.job_id = j.id
      where ${buildsWanted(scope)} and ${buildsFrom(after)} and ${hasLog} and ${jobsWanted(scope)}
      limit ${most}) counted`.execute(db)
  return rows[0]?.count ?? 0
}
