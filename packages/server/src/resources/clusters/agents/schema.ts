import { Type, type Static } from 'typebox'
import { Job } from '../../job/schema.ts'
import { orNull, Timestamp, Uuid } from '../../schema.ts'
import { UserOrNull } from '../../people/user/schema.ts'

const TextOrNull = orNull(Type.String())
const TimestampOrNull = orNull(Timestamp)

const ConnectionState = Type.Union([
  Type.Literal('never_connected'),
  Type.Literal('connected'),
  Type.Literal('disconnected'),
  Type.Literal('stopping'),
  Type.Literal('stopped'),
  Type.Literal('lost'),
])

export const ListedState = Type.Union(
  [Type.Literal('connected'), Type.Literal('disconnected'), Type.Literal('lost'), Type.Literal('all')],
  {
    description:
      'connected: also stopping; disconnected: also stopped; all: also those that never connected. Default connected.',
  },
)
export type ListedState = Static<typeof ListedState>

export const Agent = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    url: Type.String(),
    web_url: Type.String(),
    name: Type.String(),
    connection_state: ConnectionState,
    hostname: Type.String(),
    ip_address: TextOrNull,
    user_agent: TextOrNull,
    version: Type.String(),
    os_id: Type.String({ description: 'What the agent says of its operating system.' }),
    arch: Type.String(),
    queue: orNull(Type.String({ description: 'The key of the queue it serves.' })),
    cluster_url: Type.String(),
    cluster_queue_url: TextOrNull,
    creator: Type.Union([UserOrNull], { description: 'Who made the token that the agent registered with.' }),
    created_at: Timestamp,
    connected_at: TimestampOrNull,
    disconnected_at: TimestampOrNull,
    lost_at: TimestampOrNull,
    stopped_at: TimestampOrNull,
    job: Type.Union([Job, Type.Null()], {
      description: 'What it runs; null also for a job the caller may not see.',
    }),
    last_job_finished_at: TimestampOrNull,
    priority: orNull(Type.Integer({ description: 'Higher ones are offered jobs first; null comes last.' })),
    meta_data: Type.Array(Type.String({ examples: ['queue=default'] })),
    paused: Type.Boolean(),
    paused_at: TimestampOrNull,
    paused_by: UserOrNull,
    paused_note: TextOrNull,
    paused_timeout_in_minutes: orNull(Type.Integer()),
  },
  { title: 'Agent' },
)

export const StopAgent = Type.Object(
  {
    force: Type.Optional(
      orNull(
        Type.Boolean({ description: 'Default true: its job and the build of that job are canceled first.' }),
      ),
    ),
  },
  { title: 'StopAgent', examples: [{ force: false }] },
)

export const PauseAgent = Type.Object(
  {
    note: Type.Optional(orNull(Type.String({ maxLength: 1000 }))),
    timeout_in_minutes: Type.Optional(
      orNull(
        Type.Integer({ minimum: 1, maximum: 10_080, description: 'Default 5; then it goes on by itself.' }),
      ),
    ),
  },
  { title: 'PauseAgent', examples: [{ note: 'Being repaired', timeout_in_minutes: 60 }] },
)
