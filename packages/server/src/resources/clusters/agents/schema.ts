import { Type, type Static } from 'typebox'
import { Job, listedJobFields } from '../../job/schema.ts'
import { boolean, integer, oneOf, optional, orNull, text, Timestamp, timestamp, Uuid } from '../../schema.ts'
import { User, UserOrNull } from '../../people/user/schema.ts'

const ConnectionState = oneOf(
  ['never_connected', 'connected', 'disconnected', 'stopping', 'stopped', 'lost'],
  'Whether and how the agent is connected.',
)

export const ListedState = oneOf(
  ['connected', 'disconnected', 'lost', 'all'],
  'Connected: also stopping; disconnected: also stopped; all: also those that never connected. Default connected.',
)
export type ListedState = Static<typeof ListedState>

export const Agent = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    url: text('Address of the agent in the API.'),
    web_url: Type.String(),
    name: Type.String(),
    connection_state: ConnectionState,
    hostname: text('Name of the machine that the agent runs on.'),
    ip_address: orNull(text('Address that the agent connects from.')),
    user_agent: orNull(text('Name and version of the program, as it gives them.')),
    version: text('Version of the agent program.'),
    os_id: text('What the agent says of its operating system.'),
    arch: text('Architecture of the machine.'),
    queue: orNull(text('The key of the queue it serves.')),
    cluster_url: Type.String(),
    cluster_queue_url: orNull(text('Address of the queue in the API; null when there is none.')),
    creator: Type.Union([UserOrNull], { description: 'Who made the token that the agent registered with.' }),
    created_at: Timestamp,
    connected_at: orNull(timestamp('When the agent connected; null when it never has.')),
    disconnected_at: orNull(timestamp('When the agent disconnected; null unless it did.')),
    lost_at: orNull(timestamp('When the agent was given up as lost; null unless it was.')),
    stopped_at: orNull(timestamp('When the agent ended after it was asked to stop; null unless it did.')),
    job: Type.Union([Job, Type.Null()], {
      description: 'What it runs; null also for a job the caller may not see.',
    }),
    last_job_finished_at: orNull(timestamp('When the agent’s last job finished; null before the first.')),
    priority: orNull(integer('Higher ones are offered jobs first; null comes last.')),
    meta_data: Type.Array(Type.String({ examples: ['queue=default'] }), {
      description: 'The agent’s tags, as `key=value`.',
    }),
    paused: boolean('Whether the agent takes no jobs for now.'),
    paused_at: orNull(timestamp('When the agent was paused; null when it is not.')),
    paused_by: orNull(User, 'Who paused the agent; null when it is not paused.'),
    paused_note: orNull(text('Note of whoever paused the agent.')),
    paused_timeout_in_minutes: orNull(
      integer('After how many minutes the agent goes on by itself; null when it is not paused.'),
    ),
  },
  { title: 'Agent' },
)

export const ListedJob = Type.Object({ ...Job.properties, ...listedJobFields }, { title: 'ListedJob' })

export const StopAgent = Type.Object(
  {
    force: optional(boolean('Default true: its job and the build of that job are canceled first.')),
  },
  { title: 'StopAgent', examples: [{ force: false }] },
)

export const PauseAgent = Type.Object(
  {
    note: optional(Type.String({ maxLength: 1000 }), 'Note for others on why it is paused.'),
    timeout_in_minutes: optional(
      Type.Integer({ minimum: 1, maximum: 10_080, description: 'Default 5; then it goes on by itself.' }),
    ),
  },
  { title: 'PauseAgent', examples: [{ note: 'Being repaired', timeout_in_minutes: 60 }] },
)
