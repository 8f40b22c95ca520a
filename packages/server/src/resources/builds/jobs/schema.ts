import { Type, type Static } from 'typebox'
import { AgentQueryRules, estimateFields, Job, State } from '../../job/schema.ts'
import { User } from '../../people/user/schema.ts'
import { integer, oneOf, orNull, text, timestamp, Uuid, uuid } from '../../schema.ts'

const TextOrNull = orNull(Type.String())

export const JobPage = Type.Object(
  {
    items: Type.Array(Job),
    links: Type.Record(Type.String(), Type.String(), {
      description: '`self`, and `first`, `prev` and `next` where they exist.',
    }),
  },
  { title: 'JobPage' },
)

export const JobEnv = Type.Object(
  { env: Type.Record(Type.String(), Type.String()) },
  { title: 'JobEnvironment' },
)

/** Any value passes the schema, because every invalid priority gets the same answer. */
export const ReprioritizeJob = Type.Object({ priority: Type.Optional(Type.Unknown()) })

export const DocumentedReprioritizeJob = Type.Object(
  {
    priority: Type.Integer({
      minimum: -2_147_483_647,
      maximum: 2_147_483_647,
      description: 'Jobs with higher ones are handed out first.',
    }),
  },
  { title: 'ReprioritizeJob', examples: [{ priority: 10 }] },
)

const Answer = Type.String({ maxLength: 100 * 1024 })

export const UnblockJob = Type.Object(
  {
    fields: Type.Optional(
      Type.Record(Type.String(), Type.Union([Answer, Type.Array(Answer)]), {
        description:
          'The answers to the fields of the step, by their keys; several where several may be chosen.',
      }),
    ),
    unblocker: Type.Optional(
      text('UUID of the user who is recorded; default: the caller. Only administrators may name another.'),
    ),
  },
  { title: 'UnblockJob', examples: [{ fields: { 'release-name': 'Glacier' } }] },
)

export type UnblockBody = Static<typeof UnblockJob>

const waitingCodes = [
  'waiting_on_steps',
  'blocked_by',
  'concurrency_group',
  'queue_paused',
  'no_queue',
  'no_agent',
  'hosted_agent_starting',
  'hosted_agent_failed',
  'hosted_room',
  'machines_limited',
  'share_turn',
  'jobs_ahead',
  'agents_busy',
  'not_waiting',
] as const

export type WaitingCode = (typeof waitingCodes)[number]

const WaitingOn = Type.Object({
  type: oneOf(
    ['step', 'block', 'job', 'key'],
    'A step that has not ended, a block or input job, a job that holds a slot, or a key no step has yet.',
  ),
  id: orNull(uuid('UUID; null where there is nothing yet.')),
  key: orNull(text('Key of the step; null when it has none.')),
  name: TextOrNull,
  state: orNull(text('Its state; null when it has none.')),
  url: orNull(text('Its address in the API; null when the caller may not see it.')),
})

export const Waiting = Type.Object(
  {
    state: State,
    code: oneOf(waitingCodes, 'Why the job waits, for programs.'),
    reason: text('The same as a sentence.'),
    waiting_on: Type.Array(WaitingOn, { description: 'At most 100 of them.' }),
    concurrency: orNull(
      Type.Object({
        group: text('Name of the concurrency group.'),
        limit: integer('How many jobs of the group may run at once.'),
        method: text('Whether jobs of the group keep their order.'),
        held: integer('Jobs that hold a slot, those the caller may not see included.'),
      }),
      'The concurrency group that it waits for; null when it is not that.',
    ),
    queue: orNull(
      Type.Object({
        id: Uuid,
        key: text('Key of the queue.'),
        dispatch_paused_at: orNull(timestamp('When the queue was paused; null when it is not.')),
        dispatch_paused_by: orNull(User, 'Who paused the queue; null when it is not paused.'),
        dispatch_paused_note: orNull(text('Note of whoever paused the queue.')),
      }),
      'The queue that the job waits in; null when it is in none.',
    ),
    agent_query_rules: AgentQueryRules,
    jobs_ahead: orNull(integer('Jobs that come first in the queue, or in the concurrency group.')),
    eligible_agents: orNull(integer('Connected agents that could take the job, busy ones included.')),
    ...estimateFields,
  },
  { title: 'JobWaiting' },
)

export type WaitingWire = Omit<Static<typeof Waiting>, 'state' | 'code'> & {
  state: string
  code: WaitingCode
}
