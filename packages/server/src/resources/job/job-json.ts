// A job as JSON text, created by PostgreSQL, for lists and single jobs.
import { sql, type RawBuilder } from 'kysely'
import { JOB_STATES, shownJobState, type JobState } from '@millrace/engine/states.ts'
import {
  bare,
  fieldWhere,
  object,
  text,
  time,
  where,
  word,
  written,
  type JsonText,
} from '../../db/json-text.ts'
import { graphqlIdOf, shownUser } from '../people/user/user-json.ts'

/** For the `from` of a query: the tables that jobJson reads. */
export const jobsInBuilds: RawBuilder<unknown> = sql`
  jobs j join builds b on b.id = j.build_id join pipelines p on p.id = b.pipeline_id
  join organizations o on o.id = b.organization_id`

/**
 * For queries with `jobs j`, `builds b`, `pipelines p` and `organizations o` (see jobsInBuilds): one JSON object, as
 * text. `root` is the installation's address, escaped.
 */
export const jobJson = (root: string): JsonText => sql`(
  select ${jobObject}
  from (select ${root}::text as root) here
  cross join lateral (select here.root, here.root || '/v2/organizations/' || o.slug as organization,
    here.root || '/v2/organizations/' || o.slug || '/pipelines/' || p.slug || '/builds/' || b.number as build) at)`

/** The states that the API shows under these names. */
export const statesShownAs = (names: readonly string[]): JobState[] =>
  JOB_STATES.filter((state) => names.includes(shownJobState(state)))

/** For queries with `jobs j`. */
export const shownState: RawBuilder<string> = sql.raw(
  `case j.state ${JOB_STATES.filter((state) => shownJobState(state) !== state)
    .map((state) => `when '${state}' then '${shownJobState(state)}'`)
    .join(' ')} else j.state end`,
)

/** For queries with `jobs j`: its queue is paused. */
export const isOnPausedQueue: RawBuilder<boolean> = sql`exists (
  select from cluster_queues paused where paused.id = j.queue_id and paused.dispatch_paused_at is not null)`

const here = sql`at.root`
const jobUrl = sql`at.build || '/jobs/' || j.id`
const ofScript = (value: RawBuilder<unknown>): JsonText => where(sql`j.kind = 'script'`, word(value))

const signature = where(
  sql`j.work ->> 'signature' is not null`,
  object({
    value: bare(sql`j.work -> 'signature' -> 'value'`),
    algorithm: bare(sql`j.work -> 'signature' -> 'algorithm'`),
    signed_fields: bare(sql`j.work -> 'signature' -> 'signedFields'`),
  }),
)

const agent = where(
  sql`j.agent_id is not null`,
  sql`(select ${object({
    id: word(sql`a.id`),
    graphql_id: word(graphqlIdOf('Agent', sql`a.id`)),
    url: word(sql`at.organization || '/agents/' || a.id`),
    web_url: word(sql`at.root || '/organizations/' || o.slug || '/clusters/' || a.cluster_id
      || coalesce('/queues/' || a.queue_id, '') || '/agents/' || a.id`),
    name: text(sql`a.name`),
    connection_state: word(sql`a.connection_state`),
    hostname: text(sql`a.hostname`),
    ip_address: text(sql`a.ip_address`),
    user_agent: text(sql`a.user_agent`),
    creator: shownUser(here, sql`t.created_by`),
    created_at: time(sql`a.created_at`),
  })} from agents a left join cluster_tokens t on t.id = a.cluster_token_id where a.id = j.agent_id)`,
)

const triggeredBuild: JsonText = sql`coalesce((
  select ${object({
    id: word(sql`child.id`),
    number: bare(sql`child.number`),
    url: word(sql`at.organization || '/pipelines/' || target.slug || '/builds/' || child.number`),
    web_url: word(sql`at.root || '/' || o.slug || '/' || target.slug || '/builds/' || child.number`),
  })}
  from builds child join pipelines target on target.id = child.pipeline_id
  where child.organization_id = j.organization_id and child.id = j.triggered_build_id), 'null')`

const fields = {
  id: word(sql`j.id`),
  graphql_id: word(graphqlIdOf('Job', sql`j.id`)),
  type: word(sql`j.kind`),
  name: text(sql`j.work ->> 'label'`),
  step_key: text(sql`j.step_key`),
  step: object({ id: word(sql`j.step_id`), signature }),
  priority: object({ number: bare(sql`j.priority`) }),
  agent_query_rules: bare(sql`to_json(j.agent_query_rules)`),
  state: word(shownState),
  build_url: word(sql`at.build`),
  web_url: word(sql`at.root || '/' || o.slug || '/' || p.slug || '/builds/' || b.number || '#' || j.id`),
  log_url: ofScript(sql`${jobUrl} || '/log'`),
  raw_log_url: ofScript(sql`${jobUrl} || '/log.txt'`),
  artifact_url: ofScript(sql`${jobUrl} || '/artifacts'`),
  artifacts_url: ofScript(sql`${jobUrl} || '/artifacts'`),
  command: text(sql`j.work ->> 'command'`),
  soft_failed: bare(sql`j.soft_failed`),
  exit_status: bare(sql`j.exit_status`),
  signal: text(sql`j.signal`),
  signal_reason: text(sql`j.signal_reason`),
  broken_reason: where(sql`j.state = 'broken'`, text(sql`j.reason`)),
  artifact_paths: text(sql`j.work ->> 'artifactPaths'`),
  agent,
  created_at: time(sql`j.created_at`),
  scheduled_at: time(sql`j.scheduled_at`),
  runnable_at: time(sql`j.runnable_at`),
  started_at: time(sql`j.started_at`),
  finished_at: time(sql`j.finished_at`),
  expired_at: time(sql`j.expired_at`),
  concurrency_wait_time_ms: bare(sql`j.concurrency_wait_ms`),
  retried: bare(sql`j.retried_in_job_id is not null`),
  retried_in_job_id: word(sql`j.retried_in_job_id`),
  retried_by: shownUser(here, sql`j.retried_by`),
  retries_count: where(sql`j.kind in ('script', 'trigger')`, bare(sql`j.retries_count`)),
  retry_source: where(
    sql`j.retry_source_job_id is not null`,
    object({ job_id: word(sql`j.retry_source_job_id`), retry_type: word(sql`j.retry_source_type`) }),
  ),
  retry_type: word(sql`j.retry_type`),
  parallel_group_index: bare(sql`j.work -> 'parallel' -> 'index'`),
  parallel_group_total: bare(sql`j.work -> 'parallel' -> 'total'`),
  matrix: bare(sql`j.work -> 'matrix'`),
  cluster_id: word(sql`j.cluster_id`),
  cluster_url: word(sql`at.organization || '/clusters/' || j.cluster_id`),
  cluster_queue_id: word(sql`j.queue_id`),
  cluster_queue_url: word(sql`at.organization || '/clusters/' || j.cluster_id || '/queues/' || j.queue_id`),
}

const hasPromised = sql`j.promised_exit_status is not null`
const isManual = sql`j.kind = 'manual'`
const isTrigger = sql`j.kind = 'trigger'`

/** The keys that the job's step depends on and no step of the build has; null: none. */
const unknownKeys = sql`(
  select string_agg(to_json(r.ref)::text, ', ' order by r.ref) from build_refs r where r.step_id = j.step_id)`

const fieldsOfSome = [
  fieldWhere(
    sql`(j.reason is not null and j.state <> 'broken') or (j.state = 'waiting_failed' and ${unknownKeys} is not null)`,
    'state_reason',
    text(sql`coalesce(j.reason, 'No step has the key ' || ${unknownKeys})`),
  ),
  fieldWhere(sql`j.group_key is not null`, 'group_key', text(sql`j.group_key`)),
  fieldWhere(hasPromised, 'promised_exit_status', bare(sql`j.promised_exit_status`)),
  fieldWhere(hasPromised, 'promised_exit_status_at', time(sql`j.promised_at`)),
  fieldWhere(isManual, 'label', text(sql`coalesce(j.work ->> 'label', '')`)),
  fieldWhere(isManual, 'prompt', text(sql`j.work ->> 'prompt'`)),
  fieldWhere(isManual, 'submit', text(sql`j.work ->> 'submit'`)),
  fieldWhere(isManual, 'fields', bare(sql`coalesce(j.work -> 'fields', '[]')`)),
  fieldWhere(isManual, 'unblockable', bare(sql`j.unblockable`)),
  fieldWhere(isManual, 'unblock_url', word(sql`${jobUrl} || '/unblock'`)),
  fieldWhere(isManual, 'unblocked_by', shownUser(here, sql`j.unblocked_by`)),
  fieldWhere(isManual, 'unblocked_at', time(sql`j.unblocked_at`)),
  fieldWhere(isTrigger, 'async', bare(sql`j.work -> 'async'`)),
  fieldWhere(isTrigger, 'triggered_build', triggeredBuild),
]

const jobObject = written(object(fields, ...fieldsOfSome))
