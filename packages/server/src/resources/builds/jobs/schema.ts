import { Type, type Static } from 'typebox'
import { Job, JobState } from '../../job/schema.ts'
import { UserOrNull } from '../../people/user/schema.ts'
import { orNull, Timestamp, Uuid } from '../../schema.ts'

const TextOrNull = orNull(Type.String())
const TimestampOrNull = orNull(Timestamp)

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
      Type.String({
        description:
          'UUID of the user who is recorded; default: the caller. Only administrators may name another.',
      }),
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
  'jobs_ahead',
  'agents_busy',
  'not_waiting',
] as const

export type WaitingCode = (typeof waitingCodes)[number]

const WaitingOn = Type.Object({
  type: Type.Union([Type.Literal('step'), Type.Literal('block'), Type.Literal('job'), Type.Literal('key')], {
    description:
      'A step that has not ended, a block or input job, a job that holds a slot, or a key no step has yet.',
  }),
  id: orNull(Uuid),
  key: TextOrNull,
  name: TextOrNull,
  state: TextOrNull,
  url: TextOrNull,
})

export const Waiting = Type.Object(
  {
    state: JobState,
    code: Type.Union(waitingCodes.map((code) => Type.Literal(code))),
    reason: Type.String({ description: 'The same as a sentence.' }),
    waiting_on: Type.Array(WaitingOn, { description: 'At most 100 of them.' }),
    concurrency: orNull(
      Type.Object({
        group: Type.String(),
        limit: Type.Integer(),
        method: Type.String(),
        held: Type.Integer({ description: 'Jobs that hold a slot, those the caller may not see included.' }),
      }),
    ),
    queue: orNull(
      Type.Object({
        id: Uuid,
        key: Type.String(),
        dispatch_paused_at: TimestampOrNull,
        dispatch_paused_by: UserOrNull,
        dispatch_paused_note: TextOrNull,
      }),
    ),
    agent_query_rules: Type.Array(Type.String()),
    jobs_ahead: orNull(
      Type.Integer({ description: 'Jobs that come first in the queue, or in the concurrency group.' }),
    ),
    eligible_agents: orNull(
      Type.Integer({ description: 'Connected agents that could take the job, busy ones included.' }),
    ),
  },
  { title: 'JobWaiting' },
)

export type WaitingWire = Omit<Static<typeof Waiting>, 'state' | 'code'> & {
  state: string
  code: WaitingCode
}
