import { JOB_STATES, shownJobState } from '@millrace/engine/states.ts'
import { Type } from 'typebox'
import { orNull, Timestamp, Uuid } from '../schema.ts'
import { UserOrNull } from '../people/user/schema.ts'

const TextOrNull = orNull(Type.String())
const IntegerOrNull = orNull(Type.Integer())
const TimestampOrNull = orNull(Timestamp)

/** How the API spells the states of a job. */
export const jobStates = JOB_STATES.filter((state) => shownJobState(state) === state)

export const JobState = Type.Union(jobStates.map((state) => Type.Literal(state)))

const Signature = Type.Object({
  value: Type.String(),
  algorithm: Type.String(),
  signed_fields: Type.Array(Type.String()),
})

const RetryType = Type.Union([Type.Literal('manual'), Type.Literal('automatic')])

const TriggeredBuild = Type.Object({
  id: Uuid,
  number: Type.Integer(),
  url: Type.String(),
  web_url: Type.String(),
})

const JobAgent = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    url: Type.String(),
    web_url: Type.String(),
    name: Type.String(),
    connection_state: Type.String(),
    hostname: Type.String(),
    ip_address: TextOrNull,
    user_agent: TextOrNull,
    creator: UserOrNull,
    created_at: Timestamp,
  },
  { description: 'The agent that ran the job, or runs it.' },
)

const hint = orNull(Type.String({ description: 'What is to be known about it; null when there is nothing.' }))

const askedField = {
  key: Type.String({ description: 'The key of the meta-data that the answer is written to.' }),
  label: Type.String(),
  hint,
  required: Type.Boolean({ description: 'Whether it needs an answer.' }),
}

const SelectOption = Type.Object({
  label: Type.String(),
  value: Type.String({ description: 'The value that is written to the meta-data.' }),
  hint,
  required: orNull(Type.Boolean({ description: 'As the step says it; null when it does not.' })),
})

const ManualField = Type.Union([
  Type.Object({
    kind: Type.Literal('text', { description: 'A text is asked for.' }),
    ...askedField,
    default: orNull(Type.String({ description: 'The answer where none is given.' })),
    format: orNull(Type.String({ description: 'A regular expression that the whole answer has to match.' })),
  }),
  Type.Object({
    kind: Type.Literal('select', { description: 'A choice is asked for.' }),
    ...askedField,
    multiple: Type.Boolean({ description: 'Whether several options may be chosen.' }),
    default: Type.Array(Type.String(), { description: 'The answer where none is given.' }),
    options: Type.Array(SelectOption, { description: 'The options to choose from.' }),
  }),
])

export const Job = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    type: Type.Union(['script', 'waiter', 'manual', 'trigger'].map((type) => Type.Literal(type))),
    name: TextOrNull,
    label: Type.Optional(Type.String({ description: 'Manual jobs only: the same as `name`.' })),
    step_key: TextOrNull,
    group_key: Type.Optional(Type.String({ description: 'Present when the job belongs to a group.' })),
    step: Type.Object({ id: Uuid, signature: orNull(Signature) }),
    priority: Type.Object({ number: Type.Integer() }),
    agent_query_rules: Type.Array(Type.String()),
    state: JobState,
    build_url: Type.String(),
    web_url: Type.String(),
    log_url: TextOrNull,
    raw_log_url: TextOrNull,
    artifact_url: TextOrNull,
    artifacts_url: orNull(Type.String({ description: 'The same as `artifact_url`.' })),
    command: TextOrNull,
    soft_failed: Type.Boolean(),
    exit_status: IntegerOrNull,
    signal: TextOrNull,
    signal_reason: TextOrNull,
    promised_exit_status: Type.Optional(Type.Integer({ description: 'Present once promised.' })),
    promised_exit_status_at: Type.Optional(Timestamp),
    broken_reason: orNull(
      Type.String({
        description: 'Why a broken job never runs: `conditional_failed`, `branch_mismatch` or a text.',
      }),
    ),
    state_reason: Type.Optional(
      Type.String({
        description:
          'Ours, present where more is to be said: why a trigger job got no build, `job_limit` when the build had ' +
          'no room for a retry, which keys a step waited for that no step has.',
      }),
    ),
    artifact_paths: TextOrNull,
    agent: orNull(JobAgent),
    created_at: Timestamp,
    scheduled_at: Timestamp,
    runnable_at: TimestampOrNull,
    started_at: TimestampOrNull,
    finished_at: TimestampOrNull,
    expired_at: TimestampOrNull,
    concurrency_wait_time_ms: IntegerOrNull,
    retried: Type.Boolean(),
    retried_in_job_id: orNull(Uuid),
    retried_by: UserOrNull,
    retries_count: IntegerOrNull,
    retry_source: orNull(Type.Object({ job_id: Uuid, retry_type: RetryType })),
    retry_type: orNull(RetryType),
    parallel_group_index: IntegerOrNull,
    parallel_group_total: IntegerOrNull,
    matrix: Type.Union([Type.String(), Type.Record(Type.String(), Type.String()), Type.Null()]),
    cluster_id: orNull(Uuid),
    cluster_url: TextOrNull,
    cluster_queue_id: orNull(Uuid),
    cluster_queue_url: TextOrNull,
    prompt: Type.Optional(
      orNull(Type.String({ description: 'Manual jobs only: the text above the fields.' })),
    ),
    submit: Type.Optional(orNull(Type.String({ description: 'Manual jobs only: the word on the button.' }))),
    fields: Type.Optional(
      Type.Array(ManualField, {
        description: 'Manual jobs only: what the person who unblocks is asked for.',
      }),
    ),
    unblockable: Type.Optional(Type.Boolean({ description: 'Manual jobs only.' })),
    unblock_url: Type.Optional(Type.String({ description: 'Manual jobs only.' })),
    unblocked_by: Type.Optional(UserOrNull),
    unblocked_at: Type.Optional(TimestampOrNull),
    async: Type.Optional(Type.Boolean({ description: 'Trigger jobs only.' })),
    triggered_build: Type.Optional(orNull(TriggeredBuild)),
  },
  { title: 'Job' },
)
