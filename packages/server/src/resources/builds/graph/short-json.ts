// Builds and jobs in few bytes, as JSON text created by PostgreSQL: a build may have 4,000 jobs.
import { sql, type RawBuilder } from 'kysely'
import { bare, object, text, word, written, type JsonText } from '../../../db/json-text.ts'
import { shownState } from '../../job/job-json.ts'

/** Unix milliseconds. */
const milliseconds = (value: RawBuilder<unknown>): JsonText =>
  bare(sql`(extract(epoch from ${value}) * 1000)::bigint`)

const flag = (value: RawBuilder<unknown>): JsonText => sql`case when ${value} then '1' else '0' end`

/** For queries with `builds b` and `pipelines p`. */
export const shortBuild: JsonText = written(
  object({
    id: word(sql`b.id`),
    pipeline_id: word(sql`b.pipeline_id`),
    pipeline_slug: word(sql`p.slug`),
    number: bare(sql`b.number`),
    state: word(sql`b.shown_state`),
    blocked: bare(sql`b.state = 'blocked'`),
    message: text(sql`left(b.message, 1000)`),
    branch: text(sql`b.branch`),
    commit: text(sql`b.commit`),
    created_at: milliseconds(sql`b.created_at`),
    started_at: milliseconds(sql`b.started_at`),
    finished_at: milliseconds(sql`b.finished_at`),
    worked_before_seconds: bare(sql`round(b.worked_seconds::numeric, 3)`),
  }),
)

/** For the `from` of a query: the tables that shortJob reads. */
export const jobsOfSteps: RawBuilder<unknown> = sql`
  jobs j join build_steps s on s.id = j.step_id left join agents a on a.id = j.agent_id`

const unknownKeys = sql`(
  select 'no step has the key ' || string_agg(to_json(r.ref)::text, ', ' order by r.ref)
  from build_refs r where r.step_id = j.step_id)`

/** `reason` is a sentence, or one of two words for programs. */
const whyFailed = sql`coalesce(
  case j.reason when 'agent_lost' then 'agent lost' when 'job_limit' then null else j.reason end,
  'signal ' || regexp_replace(j.signal, '^SIG', ''),
  case when j.exit_status <> 0 then 'exit ' || j.exit_status end)`

/** For queries with `jobs j`: why it failed or was left out, in a few words. */
export const jobNote: RawBuilder<string | null> = sql`left(case j.state
  when 'broken' then j.reason
  when 'timed_out' then 'timed out'
  when 'waiting_failed' then ${unknownKeys}
  when 'failed' then ${whyFailed}
  when 'canceled' then case when j.cut_short then 'another job failed' end end, 200)`

const label = sql`case when j.work ->> 'label' is distinct from s.definition ->> 'label'
  then left(j.work ->> 'label', 300) end`

const fields = [
  word(sql`j.id`),
  word(sql`j.step_id`),
  word(shownState),
  text(label),
  bare(sql`j.work -> 'parallel' -> 'index'`),
  bare(sql`j.retries_count`),
  milliseconds(sql`j.created_at`),
  milliseconds(sql`j.runnable_at`),
  milliseconds(sql`j.started_at`),
  milliseconds(sql`j.finished_at`),
  bare(sql`j.exit_status`),
  flag(sql`j.soft_failed`),
  word(sql`j.retried_in_job_id`),
  text(sql`a.name`),
  text(jobNote),
  flag(sql`j.unblockable`),
]

/** For queries with jobsOfSteps: an array, see ShortJob in schema.ts. */
export const shortJob: JsonText = written(sql`concat('[', concat_ws(',', ${sql.join(fields)}), ']')`)
