// What tests and files of tests are expected to take, and which tests are in quarantine. Lists go to the database and come from
// it as JSON texts: they can have 100,000 entries, and threads make and read them (plan-tasks.ts).
import { sql, type RawBuilder } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Db } from '../../../db/pool.ts'
import { isVisibleDay } from '../suites/visible-results.ts'
import { testIdOf } from '../test_runs/queries.ts'

interface SuiteOfCaller {
  org: Organization
  caller: Caller
  suiteId: string
  now: Date
}

const countedDays = 14

/** For `test_days d`: a day counts half as much as the next one, so that a change shows soon and one slow run does not decide. */
const mean = (now: Date) => {
  const weight = sql`power(0.5, ${dayOf(now)}::date - d.day)`
  return sql`sum(d.duration_sum * ${weight}) / nullif(sum(d.timed_count * ${weight}), 0)`
}

const dayOf = (now: Date): string => now.toISOString().slice(0, 10)

const recentDays = ({ org, caller, suiteId, now }: SuiteOfCaller) => sql`
  d.suite_id = ${suiteId} and d.timed_count > 0 and d.day > ${dayOf(now)}::date - ${sql.lit(countedDays)}
  and ${isVisibleDay(org, caller)}`

/** For `tests t`. Some senders begin names with “./”. */
const file: RawBuilder<string> = sql`regexp_replace(t.file_name, '^(\\./)+', '')`

/**
 * Files with their seconds and how often their tests ran. Tests that have not run since the day before their file last ran are
 * gone from it.
 */
const timesOfFiles = (of: SuiteOfCaller) => sql`
  select path, sum(seconds) as seconds, max(runs)::integer as runs
  from (
    select m.*, max(m.day) over (partition by m.path) as newest
    from (
      select ${file} as path, max(d.day) as day, ${mean(of.now)} as seconds, sum(d.timed_count) as runs
      from tests t join test_days d on d.suite_id = t.suite_id and d.test_id = t.id
      where t.organization_id = ${of.org.id} and t.suite_id = ${of.suiteId} and t.file_name is not null and ${recentDays(of)}
      group by t.id, t.file_name
    ) m
  ) n
  where n.day >= n.newest - 1 group by path`

const given = (paths: string) =>
  sql`(select distinct path from json_array_elements_text(${paths}::json) as path)`

/** `paths` is a JSON list. Returns a JSON object: seconds and the number of runs of each file that has run. */
export async function timeFiles(db: Db, of: SuiteOfCaller, paths: string): Promise<string> {
  const { rows } = await sql<{ json: string }>`
    select coalesce(json_object_agg(f.path, json_build_array(f.seconds, f.runs)), '{}')::text as json
    from ${given(paths)} g join (${timesOfFiles(of)}) f on f.path = g.path`.execute(db)
  return rows[0]?.json ?? '{}'
}

/** The same in whole milliseconds, as the public client reads it. */
export async function timeFilesInMs(db: Db, of: SuiteOfCaller, paths: string): Promise<string> {
  const { rows } = await sql<{ json: string }>`
    select coalesce(json_object_agg(f.path, round(f.seconds * 1000)::bigint), '{}')::text as json
    from ${given(paths)} g join (${timesOfFiles(of)}) f on f.path = g.path`.execute(db)
  return rows[0]?.json ?? '{}'
}

/** For `tests t`. */
const isInState = (state: 'muted' | 'skipped', now: Date) => sql`
  (t.state = ${sql.lit(state)} and (t.quarantine_expires_at is null or t.quarantine_expires_at > ${now.toISOString()}))`

/**
 * `examples` is a JSON list of tests with scope and name. Returns a JSON object by their positions: seconds, the number of runs,
 * and whether the test is skipped.
 */
export async function timeExamples(db: Db, of: SuiteOfCaller, examples: string): Promise<string> {
  const { rows } = await sql<{ json: string }>`
    with n as (
      select n.place, ${testIdOf(of.suiteId, 'n')} as id
      from rows from (json_to_recordset(${examples}::json) as (scope text, name text)) with ordinality as n (scope, name, place)
    )
    select coalesce(json_object_agg(n.place - 1, json_build_array(f.seconds, coalesce(f.runs, 0), ${isInState('skipped', of.now)})), '{}')::text as json
    from n join tests t on t.organization_id = ${of.org.id} and t.suite_id = ${of.suiteId} and t.id = n.id
    cross join lateral (
      select ${mean(of.now)} as seconds, sum(d.timed_count)::integer as runs
      from test_days d where d.test_id = t.id and ${recentDays(of)}) f`.execute(db)
  return rows[0]?.json ?? '{}'
}

/** A JSON list of the tests that are muted now. */
export async function listMuted(db: Db, orgId: string, suiteId: string, now: Date): Promise<string> {
  const { rows } = await sql<{ json: string }>`
    select coalesce(json_agg(json_build_object('scope', t.scope, 'name', t.name, 'path', coalesce(t.file_name, ''))
      order by t.id), '[]')::text as json
    from tests t
    where t.organization_id = ${orgId} and t.suite_id = ${suiteId} and t.state <> 'enabled' and ${isInState('muted', now)}`.execute(
    db,
  )
  return rows[0]?.json ?? '[]'
}

interface Parts {
  /** Without a target; with one, the most. */
  parts: number
  targetSeconds: number | null
  /** Name slow files too, not only those with skipped tests. */
  withSlow: boolean
}

/**
 * Which of the files should be divided into their tests: those with a skipped test, and those that alone take more than half of
 * an equal part. Returns the client's form.
 */
export async function filterFiles(
  db: Db,
  of: SuiteOfCaller,
  paths: string,
  { parts, targetSeconds, withSlow }: Parts,
): Promise<string> {
  const count =
    targetSeconds === null
      ? sql`${parts}::double precision`
      : sql`greatest(1, least(${parts}::double precision, ceil(a.total / ${targetSeconds}::double precision)))`
  const { rows } = await sql<{ json: string }>`
    with g as materialized (select path from ${given(paths)} g),
      timed as materialized (select f.path, f.seconds from g join (${timesOfFiles(of)}) f on f.path = g.path),
      a as (
        select coalesce(sum(seconds), 0) + ((select count(*) from g) - count(*))
          * coalesce(percentile_cont(0.5) within group (order by seconds), 0) as total
        from timed),
      chosen as (
        select ${file} as path from tests t
        where t.organization_id = ${of.org.id} and t.suite_id = ${of.suiteId} and t.state <> 'enabled'
          and ${isInState('skipped', of.now)}
        union
        select timed.path from timed, a
        where ${withSlow}::boolean and ${count} > 1 and timed.seconds > a.total / ${count} / 2)
    select coalesce(json_agg(json_build_object('path', g.path) order by g.path), '[]')::text as json
    from g join chosen on chosen.path = g.path`.execute(db)
  return `{"tests":${rows[0]?.json ?? '[]'}}`
}
