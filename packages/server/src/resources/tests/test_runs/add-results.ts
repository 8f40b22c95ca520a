// Writes the results of an upload, and what is known of their tests: a row for each, and its results by day.
//
// Uploads of a suite run at the same time and meet in the same rows. So all of them lock rows in one order: first tests, then
// days, each in the order of the batches, which are sorted by scope and name.
import { sql } from 'kysely'
import type { Trx } from '../../../db/pool.ts'
import { testIdOf } from './queries.ts'

export interface OpenRun {
  id: string
  organizationId: string
  suiteId: string
  /** The pipeline of the run's build; without one, the suite. */
  originId: string
  /** The author of a fork decides what its tests are called and how they end, so its results are kept for its own build only. */
  fromFork: boolean
  /** What the job ran: its step and the values of its matrix. Null: not known. */
  variant: string | null
  /** Null: not known. */
  jobId: string | null
}

/** Results of further tests are kept with their run, but no row is made for these tests. */
const mostTests = 200_000

/** Newest durations of a test and day. */
const mostDurations = 64

export async function addBatches(
  trx: Trx,
  run: OpenRun,
  batches: readonly string[],
  at: string,
): Promise<void> {
  if (!run.fromFork) for (const batch of batches) await saveTests(trx, run, batch, at)
  for (const batch of batches) await addResults(trx, run, batch, at)
}

/** A known test is written once an hour only: most uploads bring no new ones. */
async function saveTests(trx: Trx, run: OpenRun, results: string, at: string): Promise<void> {
  await sql`
    with given as (
      select ${testIdOf(run.suiteId, 'n')} as id, n.*
      from rows from (jsonb_to_recordset(${results}::jsonb) as (scope text, name text, location text, "fileName" text))
        with ordinality as n (scope, name, location, file_name, place)
    ), distinct_tests as (
      select distinct on (id) * from given order by id, place
    ), missing as (
      select g.*, known.id is null as is_new, row_number() over (partition by known.id is null order by g.place) as turn
      from distinct_tests g left join tests known on known.suite_id = ${run.suiteId} and known.id = g.id
      where known.id is null or known.last_seen_at < ${at}::timestamptz - interval '1 hour'
    )
    insert into tests as t (organization_id, suite_id, id, scope, name, location, file_name, first_seen_at, last_seen_at)
    select ${run.organizationId}, ${run.suiteId}, m.id, m.scope, m.name, m.location, m.file_name, ${at}, ${at}
    from missing m
    where not m.is_new or m.turn <= ${mostTests} - (select count(*) from tests where suite_id = ${run.suiteId})
    order by m.place
    on conflict (suite_id, id) do update set last_seen_at = greatest(t.last_seen_at, excluded.last_seen_at),
      location = coalesce(excluded.location, t.location), file_name = coalesce(excluded.file_name, t.file_name)`.execute(
    trx,
  )
}

/** The run's row is locked, so concurrent uploads add to its counts one after the other. */
async function addResults(trx: Trx, run: OpenRun, results: string, at: string): Promise<void> {
  await sql`
    with given as (
      select ${testIdOf(run.suiteId, 'n')} as test_id, n.*
      from rows from (jsonb_to_recordset(${results}::jsonb) as (id uuid, scope text, name text, location text,
          "fileName" text, result text, "failureReason" text, "failureExpanded" jsonb, "durationSeconds" double precision, tags jsonb))
        with ordinality as n (id, scope, name, location, file_name, result, failure_reason, failure_expanded, duration_seconds, tags, place)
    ), fresh as (
      insert into test_results (run_id, id, scope, name, location, file_name, result, failure_reason,
        failure_expanded, duration_seconds, created_at, test_id, variant, job_id, tags, quarantine)
      select ${run.id}, g.id, g.scope, g.name, g.location, g.file_name, g.result, g.failure_reason,
        g.failure_expanded, g.duration_seconds, ${at}, case when ${run.fromFork}::boolean then null else g.test_id end, ${run.variant}::uuid, ${run.jobId}::uuid, g.tags,
        case when g.result = 'failed' then (
          select k.state from tests k where k.suite_id = ${run.suiteId} and k.id = g.test_id and k.state <> 'enabled'
            and (k.quarantine_expires_at is null or k.quarantine_expires_at > ${at})) end
      from given g
      on conflict (run_id, id) do nothing returning test_id, result, duration_seconds
    ), places as (
      select test_id, min(place) as place from given group by test_id
    ), days as (
      insert into test_days as d (suite_id, day, test_id, origin_id, passed_count, failed_count, skipped_count, unknown_count,
        timed_count, duration_sum, duration_min, duration_max, durations)
      select ${run.suiteId}, (${at}::timestamptz at time zone 'utc')::date, f.test_id, ${run.originId},
        ${counted('passed')}, ${counted('failed')}, ${counted('skipped')}, ${counted('unknown')},
        count(f.duration_seconds), coalesce(sum(f.duration_seconds), 0), min(f.duration_seconds), max(f.duration_seconds),
        coalesce((array_agg((round(f.duration_seconds * 1e6) / 1e6)::real)
          filter (where f.duration_seconds is not null))[1:${sql.lit(mostDurations)}], '{}')
      from fresh f join places p on p.test_id = f.test_id
        join tests t on t.suite_id = ${run.suiteId} and t.id = f.test_id
      group by f.test_id, p.place order by p.place
      on conflict (suite_id, day, test_id, origin_id) do update set
        passed_count = d.passed_count + excluded.passed_count, failed_count = d.failed_count + excluded.failed_count,
        skipped_count = d.skipped_count + excluded.skipped_count, unknown_count = d.unknown_count + excluded.unknown_count,
        timed_count = d.timed_count + excluded.timed_count, duration_sum = d.duration_sum + excluded.duration_sum,
        duration_min = least(d.duration_min, excluded.duration_min),
        duration_max = greatest(d.duration_max, excluded.duration_max),
        durations = (excluded.durations || d.durations)[1:${sql.lit(mostDurations)}]
    ), added as (
      select ${counted('passed')} as passed, ${counted('failed')} as failed, ${counted('skipped')} as skipped,
        ${counted('unknown')} as unknown, coalesce(sum(f.duration_seconds), 0) as seconds
      from fresh f
    )
    update test_runs r set passed_count = r.passed_count + a.passed, failed_count = r.failed_count + a.failed,
      skipped_count = r.skipped_count + a.skipped, unknown_count = r.unknown_count + a.unknown,
      duration_seconds = r.duration_seconds + a.seconds
    from added a where r.id = ${run.id}`.execute(trx)
}

const counted = (result: string) => sql`count(*) filter (where f.result = ${sql.lit(result)})`
