import { Type, type Static } from 'typebox'
import { Job } from '../../job/schema.ts'
import { orNull, Timestamp, Uuid } from '../../schema.ts'
import { UserOrNull } from '../../people/user/schema.ts'

/** vCPUs and gigabytes of memory are in the name. */
export const instanceShapes = [
  'LINUX_AMD64_2X4',
  'LINUX_AMD64_4X16',
  'LINUX_AMD64_8X32',
  'LINUX_AMD64_16X64',
  'LINUX_AMD64_32X128',
  'LINUX_AMD64_64X256',
  'LINUX_ARM64_2X4',
  'LINUX_ARM64_4X16',
  'LINUX_ARM64_8X32',
  'LINUX_ARM64_16X64',
  'LINUX_ARM64_32X128',
  'LINUX_ARM64_64X256',
  'MACOS_ARM64_M4_6X28',
  'MACOS_ARM64_M4_12X56',
] as const

const RetryAgentAffinity = Type.Union([Type.Literal('prefer-warmest'), Type.Literal('prefer-different')])

const HostedAgents = Type.Object({
  instance_shape: Type.Object({
    machine_type: Type.Union([Type.Literal('linux'), Type.Literal('macos')]),
    architecture: Type.Union([Type.Literal('amd64'), Type.Literal('arm64')]),
    cpu: Type.Integer(),
    memory: Type.Integer({ description: 'Gigabytes.' }),
    name: Type.String(),
  }),
  platform_settings: Type.Union([
    Type.Object({ linux: Type.Object({ agent_image_ref: orNull(Type.String()) }) }),
    Type.Object({ macos: Type.Object({}) }),
  ]),
})

export const Queue = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    key: Type.String(),
    description: orNull(Type.String()),
    url: Type.String(),
    web_url: Type.String(),
    cluster_url: Type.String(),
    retry_agent_affinity: RetryAgentAffinity,
    dispatch_paused: Type.Boolean(),
    dispatch_paused_by: UserOrNull,
    dispatch_paused_at: orNull(Timestamp),
    dispatch_paused_note: orNull(Type.String()),
    created_at: Timestamp,
    created_by: UserOrNull,
    hosted: Type.Optional(Type.Literal(true, { description: 'Only on hosted queues.' })),
    hosted_agents: Type.Optional(HostedAgents),
  },
  { title: 'ClusterQueue' },
)

const Key = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,100}$',
  description: 'must be 1 to 100 letters, digits, dashes and underscores',
  examples: ['default'],
})
const Description = orNull(Type.String({ maxLength: 10_000 }))
const Note = orNull(Type.String({ maxLength: 1000 }))

export const CreateQueue = Type.Object(
  {
    key: Key,
    description: Type.Optional(Description),
    retry_agent_affinity: Type.Optional(RetryAgentAffinity),
    hostedAgents: Type.Optional(
      Type.Object(
        { instanceShape: Type.Union(instanceShapes.map((name) => Type.Literal(name))) },
        { description: 'Makes the queue a hosted one, in a hosted cluster.' },
      ),
    ),
  },
  {
    title: 'CreateClusterQueue',
    examples: [{ key: 'default', description: 'For everything that says nothing else' }],
  },
)

export const UpdateQueue = Type.Object(
  {
    key: Type.Optional(Type.String({ description: 'Cannot be changed; the same key is accepted.' })),
    description: Type.Optional(Description),
    retry_agent_affinity: Type.Optional(RetryAgentAffinity),
    hostedAgents: Type.Optional(
      Type.Object({
        instanceShape: Type.Optional(
          Type.String({ description: 'Required here; another size of the same machine and architecture.' }),
        ),
        agentImageRef: Type.Optional(orNull(Type.String({ maxLength: 1000 }))),
      }),
    ),
  },
  { title: 'UpdateClusterQueue', examples: [{ description: 'Large machines' }] },
)

export const PauseDispatch = Type.Object(
  {
    dispatch_paused_note: Type.Optional(Note),
    note: Type.Optional(Note),
  },
  { title: 'PauseDispatch', examples: [{ dispatch_paused_note: 'Rolling out new machines' }] },
)

export type CreateQueueBody = Static<typeof CreateQueue>
export type UpdateQueueBody = Static<typeof UpdateQueue>
export type PauseDispatchBody = Static<typeof PauseDispatch>

export const WaitingJob = Type.Object(
  {
    ...Job.properties,
    position: Type.Integer({
      description:
        'Place in the queue, from 1. Jobs that the caller may not see are left out but have places.',
    }),
  },
  { title: 'WaitingJob' },
)

const Seconds = (description: string) => orNull(Type.Number({ description }))

export const QueueMetrics = Type.Object(
  {
    waiting: Type.Integer({ description: 'Jobs that wait for an agent.' }),
    running: Type.Integer({ description: 'Jobs that run.' }),
    connected: Type.Integer({ description: 'Agents that are connected.' }),
    busy: Type.Integer({ description: 'Agents that have a job.' }),
    wait_p50_seconds: Seconds(
      'Median wait of the jobs that started in the last 60 minutes; null without any.',
    ),
    wait_p95_seconds: Seconds('The wait that 95 % of these jobs did not exceed; null without any.'),
    points: Type.Array(Type.Array(Type.Integer()), {
      description:
        'One entry a minute, oldest first: Unix milliseconds, jobs that waited, jobs that ran. Of at most 20,000 unfinished and 20,000 finished jobs.',
    }),
  },
  { title: 'QueueMetrics' },
)
