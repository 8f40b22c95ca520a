import { JOB_STATES, shownJobState } from '@millrace/engine/states.ts'
import { Type } from 'typebox'
import { User } from '../people/user/schema.ts'
import {
  boolean,
  integer,
  oneOf,
  optional,
  orNull,
  text,
  Timestamp,
  timestamp,
  Uuid,
  uuid,
} from '../schema.ts'

const TextOrNull = orNull(Type.String())
const TimestampOrNull = orNull(Timestamp)

/** How the API spells the states of a job. */
export const jobStates = JOB_STATES.filter((state) => shownJobState(state) === state)

export const JobState = oneOf(jobStates)

const Signature = Type.Object({
  value: text('The signature itself.'),
  algorithm: text('Algorithm of the signature.'),
  signed_fields: Type.Array(Type.String(), { description: 'Names of the fields that the signature covers.' }),
})

const RetryType = oneOf(
  ['manual', 'automatic'],
  'Whether the retry was `manual` or `automatic`; null when it is none.',
)

const TriggeredBuild = Type.Object({
  id: Uuid,
  number: integer('Number of the build within its pipeline.'),
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
    connection_state: text('Whether and how the agent is connected.'),
    hostname: text('Name of the machine that the agent runs on.'),
    ip_address: orNull(text('Address that the agent connects from.')),
    user_agent: orNull(text('Name and version of the program, as it gives them.')),
    creator: orNull(User, 'Who created it; null when that user is gone, or no user did.'),
    created_at: Timestamp,
  },
  { description: 'The agent that ran the job, or runs it.' },
)

const hint = orNull(text('What is to be known about it; null when there is nothing.'))

const Label = text('Name of the step, for people.')

const askedField = {
  key: text('The key of the meta-data that the answer is written to.'),
  label: Label,
  hint,
  required: boolean('Whether it needs an answer.'),
}

const SelectOption = Type.Object({
  label: Label,
  value: text('The value that is written to the meta-data.'),
  hint,
  required: orNull(boolean('As the step says it; null when it does not.')),
})

const ManualField = Type.Union([
  Type.Object({
    kind: Type.Literal('text', { description: 'A text is asked for.' }),
    ...askedField,
    default: orNull(text('The answer where none is given.')),
    format: orNull(text('A regular expression that the whole answer has to match.')),
  }),
  Type.Object({
    kind: Type.Literal('select', { description: 'A choice is asked for.' }),
    ...askedField,
    multiple: boolean('Whether several options may be chosen.'),
    default: Type.Array(Type.String(), { description: 'The answer where none is given.' }),
    options: Type.Array(SelectOption, { description: 'The options to choose from.' }),
  }),
])

export const State = Type.Union(JobState.anyOf, { description: 'State of the job.' })

export const AgentQueryRules = Type.Array(Type.String(), {
  description: 'What an agent’s tags must match, as `key=value`.',
})

export const Job = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    type: oneOf(
      ['script', 'waiter', 'manual', 'trigger'],
      'Kind of the job: a command, a wait, a block or input, or a trigger.',
    ),
    name: orNull(text('Name of the job, for people; null when it has none.')),
    label: Type.Optional(text('Manual jobs only: the same as `name`.')),
    step_key: orNull(text('Key of the step; null when it has none.')),
    group_key: Type.Optional(text('Present when the job belongs to a group.')),
    step: Type.Object(
      {
        id: uuid('UUID of the step.'),
        signature: orNull(Signature, 'Signature of the step; null when it is not signed.'),
      },
      { description: 'The step that the job was made from.' },
    ),
    priority: Type.Object(
      { number: integer('Higher ones are handed out first.') },
      {
        description: 'Which jobs are handed out first.',
      },
    ),
    agent_query_rules: AgentQueryRules,
    state: State,
    build_url: Type.String(),
    web_url: Type.String(),
    log_url: orNull(text('Address of the log in the API; null for jobs that run nothing.')),
    raw_log_url: orNull(text('Address of the log as plain text; null for jobs that run nothing.')),
    artifact_url: orNull(text('Address of the job’s artifacts in the API; null for jobs that run nothing.')),
    artifacts_url: orNull(text('The same as `artifact_url`.')),
    command: orNull(text('The command; null when there is none.')),
    soft_failed: boolean('Whether the job failed in a way that its step allows.'),
    exit_status: orNull(integer('Exit status of the command; null before it ended.')),
    signal: orNull(text('Signal that ended the process; null when none did.')),
    signal_reason: orNull(
      text('Why the process was ended from outside, or never started; null when it ended by itself.'),
    ),
    promised_exit_status: Type.Optional(integer('Present once promised.')),
    promised_exit_status_at: Type.Optional(
      timestamp('When the job promised its exit status; absent until then.'),
    ),
    broken_reason: orNull(
      text('Why a broken job never runs: `conditional_failed`, `branch_mismatch` or a text.'),
    ),
    state_reason: Type.Optional(
      Type.String({
        description:
          'Ours, present where more is to be said: why a trigger job got no build, `job_limit` when the build had ' +
          'no room for a retry, which keys a step waited for that no step has.',
      }),
    ),
    artifact_paths: orNull(
      text('Patterns of the files to upload, separated by `;`; null when there are none.'),
    ),
    agent: orNull(JobAgent),
    created_at: Timestamp,
    scheduled_at: timestamp('When it was put up for running.'),
    runnable_at: orNull(timestamp('When the job became ready for an agent; null before that.')),
    started_at: TimestampOrNull,
    finished_at: TimestampOrNull,
    expired_at: orNull(timestamp('When it expired; null unless it did.')),
    concurrency_wait_time_ms: orNull(
      integer('Milliseconds that the job waited for its concurrency group; null when it has none.'),
    ),
    retried: boolean('Whether another job was made to retry this one.'),
    retried_in_job_id: orNull(uuid('UUID of the job that retries this one; null when none does.')),
    retried_by: orNull(User, 'Who retried the job; null when nobody did, or it was automatic.'),
    retries_count: orNull(
      integer('How many runs of the job came before this one; null for waits and blocks.'),
    ),
    retry_source: orNull(
      Type.Object({
        job_id: Uuid,
        retry_type: RetryType,
      }),
      'The job that this one retries; null when it retries none.',
    ),
    retry_type: orNull(RetryType),
    parallel_group_index: orNull(
      integer('Place among the parallel jobs of the step, from 0; null when it is not parallel.'),
    ),
    parallel_group_total: orNull(
      integer('How many parallel jobs the step has; null when it is not parallel.'),
    ),
    matrix: Type.Union([
      Type.String(),
      Type.Record(Type.String(), Type.String()),
      Type.Null({ description: 'The values of the step’s matrix for this job; null when it has none.' }),
    ]),
    cluster_id: orNull(Uuid),
    cluster_url: TextOrNull,
    cluster_queue_id: orNull(uuid('UUID of the queue; null when there is none.')),
    cluster_queue_url: orNull(text('Address of the queue in the API; null when there is none.')),
    prompt: optional(text('Manual jobs only: the text above the fields.')),
    submit: optional(text('Manual jobs only: the word on the button.')),
    fields: Type.Optional(
      Type.Array(ManualField, {
        description: 'Manual jobs only: what the person who unblocks is asked for.',
      }),
    ),
    unblockable: Type.Optional(boolean('Manual jobs only.')),
    unblock_url: Type.Optional(text('Manual jobs only.')),
    unblocked_by: optional(User, 'Manual jobs only: who unblocked it; null before that.'),
    unblocked_at: optional(timestamp('Manual jobs only: when it was unblocked; null before that.')),
    async: Type.Optional(boolean('Trigger jobs only.')),
    triggered_build: optional(
      TriggeredBuild,
      'Trigger jobs only: the build that was made; null before that.',
    ),
    viewer: Type.Optional(
      Type.Object(
        {
          may: Type.Object(
            { unblock: boolean('Whether the caller may unblock it; false for jobs that are not manual.') },
            { description: 'What the caller may do, as far as the scopes of the token allow it.' },
          ),
          unblock_teams: Type.Array(Type.String(), {
            description:
              'Names of the teams whose members alone may unblock it. Those that the caller does not see are ' +
              'as the step writes them. Empty: who may build the pipeline.',
          }),
        },
        { description: 'The caller’s view of it; only with `include_viewer=true`.' },
      ),
    ),
  },
  { title: 'Job' },
)

const estimateCodes = [
  'not_in_queue',
  'queue_paused',
  'on_demand',
  'no_agent',
  'agents_idle',
  'concurrency_group',
  'no_history',
  'overrun',
  'spread',
  'too_large',
] as const

export type EstimateCode = (typeof estimateCodes)[number]

/** Of jobs that wait. */
export const estimateFields = {
  estimated_start_at: orNull(
    timestamp(
      'When an agent will probably start the job, by what the last jobs of its queue took; null where that is not known.',
    ),
  ),
  estimate_unknown: orNull(
    Type.Object({
      code: oneOf(estimateCodes, 'Why there is no estimate, for programs.'),
      reason: text('The same as a sentence.'),
    }),
    'Why there is no estimate; null when there is one.',
  ),
}

/** Of jobs in a list of several pipelines. */
export const listedJobFields = {
  pipeline: Type.Object(
    { name: text('Name, for people.'), slug: text('Last word of its address.') },
    { description: 'The pipeline that the job belongs to.' },
  ),
  build: Type.Object(
    {
      number: integer('Number of the build within its pipeline.'),
      message: orNull(text('Message of the build; null when it has none.')),
    },
    { description: 'The build that the job belongs to.' },
  ),
}
