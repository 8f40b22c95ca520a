import { Type, type Static } from 'typebox'
import { estimateFields, Job, listedJobFields } from '../../job/schema.ts'
import {
  boolean,
  described,
  integer,
  oneOf,
  optional,
  orNull,
  text,
  Timestamp,
  timestamp,
  Uuid,
} from '../../schema.ts'
import { User, UserOrNull } from '../../people/user/schema.ts'

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

const RetryAgentAffinity = oneOf(
  ['prefer-warmest', 'prefer-different'],
  'Which agent a retry prefers: the one that is warmest, or another than before.',
)

const FairBy = oneOf(
  ['none', 'pipeline', 'team', 'creator'],
  'Whose jobs share the agents fairly, among jobs of the same priority; `none`: first come, first served.',
)

const FairWeights = Type.Record(Type.String(), Type.Integer({ minimum: 1, maximum: 1000 }), {
  maxProperties: 100,
  description:
    'Weights of pipelines, teams or users by UUID, from 1 to 1000. A share of weight 2 gets twice as much as one of weight 1, which is the default.',
  examples: [{}],
})

const MachineLimitPercent = orNull(
  Type.Integer({
    minimum: 1,
    maximum: 100,
    description:
      'How many of the connected agents, in percent, jobs of machines may hold while jobs of people wait; null: all of them.',
  }),
)

const PricePerMinute = Type.Number({
  minimum: 0,
  maximum: 1_000_000,
  description:
    'What a minute of a running job costs in the organization’s currency, to six decimals. It counts for jobs that end from now on.',
})

const HostedAgents = Type.Object(
  {
    instance_shape: Type.Object(
      {
        machine_type: oneOf(['linux', 'macos'], 'Operating system of the machines.'),
        architecture: oneOf(['amd64', 'arm64'], 'Architecture of the machines.'),
        cpu: integer('Number of virtual CPUs.'),
        memory: integer('Gigabytes.'),
        name: text('Name of the size.'),
      },
      { description: 'Size and kind of the machines.' },
    ),
    platform_settings: described(
      Type.Union([
        Type.Object({
          linux: Type.Object(
            {
              agent_image_ref: orNull(text('Image that the agents run in; null: the installation’s own.')),
            },
            { description: 'Settings of Linux machines.' },
          ),
        }),
        Type.Object({ macos: Type.Object({}, { description: 'Settings of macOS machines.' }) }),
      ]),
      'Settings that depend on the operating system.',
    ),
  },
  { description: 'Hosted queues only: the machines that the installation starts.' },
)

export const Queue = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    key: text('Key that agents and steps name the queue by.'),
    description: orNull(Type.String()),
    url: Type.String(),
    web_url: Type.String(),
    cluster_url: Type.String(),
    retry_agent_affinity: RetryAgentAffinity,
    fair_by: FairBy,
    fair_weights: FairWeights,
    machine_limit_percent: MachineLimitPercent,
    price_per_minute: PricePerMinute,
    dispatch_paused: boolean('Whether no jobs are handed out from the queue for now.'),
    dispatch_paused_by: orNull(User, 'Who paused the queue; null when it is not paused.'),
    dispatch_paused_at: orNull(timestamp('When the queue was paused; null when it is not.')),
    dispatch_paused_note: orNull(text('Note of whoever paused the queue.')),
    created_at: Timestamp,
    created_by: UserOrNull,
    hosted: Type.Optional(Type.Literal(true, { description: 'Only on hosted queues.' })),
    hosted_agents: Type.Optional(HostedAgents),
    counts: Type.Optional(
      Type.Object(
        {
          waiting: integer('Jobs that wait for an agent.'),
          running: integer('Jobs that run.'),
          agents: integer('Agents that are connected.'),
        },
        { description: 'Only in lists with `include_counts=true`.' },
      ),
    ),
  },
  { title: 'ClusterQueue' },
)

const Key = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,100}$',
  description: 'Must be 1 to 100 letters, digits, dashes and underscores.',
  examples: ['default'],
})
const Description = orNull(Type.String({ maxLength: 10_000 }))

export const CreateQueue = Type.Object(
  {
    key: Key,
    description: Type.Optional(Description),
    retry_agent_affinity: Type.Optional(RetryAgentAffinity),
    price_per_minute: Type.Optional(PricePerMinute),
    hostedAgents: Type.Optional(
      Type.Object(
        {
          instanceShape: oneOf(
            instanceShapes,
            'Size and kind of the machines; CPUs and gigabytes are in the name.',
          ),
        },
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
    key: Type.Optional(text('Cannot be changed; the same key is accepted.')),
    description: Type.Optional(Description),
    retry_agent_affinity: Type.Optional(RetryAgentAffinity),
    fair_by: Type.Optional(FairBy),
    fair_weights: Type.Optional(FairWeights),
    machine_limit_percent: Type.Optional(MachineLimitPercent),
    price_per_minute: Type.Optional(PricePerMinute),
    hostedAgents: Type.Optional(
      Type.Object(
        {
          instanceShape: Type.Optional(
            text('Required here; another size of the same machine and architecture.'),
          ),
          agentImageRef: optional(
            Type.String({ maxLength: 1000 }),
            'Image that the agents run in; null: the installation’s own.',
          ),
        },
        { description: 'Hosted queues only: the machines that the installation starts.' },
      ),
    ),
  },
  { title: 'UpdateClusterQueue', examples: [{ description: 'Large machines' }] },
)

export const PauseDispatch = Type.Object(
  {
    dispatch_paused_note: optional(Type.String({ maxLength: 1000 }), 'Note of whoever paused the queue.'),
    note: optional(Type.String({ maxLength: 1000 }), 'Note for others on why it is paused.'),
  },
  { title: 'PauseDispatch', examples: [{ dispatch_paused_note: 'Rolling out new machines' }] },
)

export type CreateQueueBody = Static<typeof CreateQueue>
export type UpdateQueueBody = Static<typeof UpdateQueue>
export type PauseDispatchBody = Static<typeof PauseDispatch>

export const WaitingJob = Type.Object(
  {
    ...Job.properties,
    type: Type.Union(Job.properties.type.anyOf, { description: 'Kind of the job: always a command.' }),
    name: orNull(Type.String()),
    step: Type.Object(
      { ...Job.properties.step.properties, id: Uuid },
      { description: 'The step that the job was made from.' },
    ),
    priority: Type.Object(Job.properties.priority.properties, {
      description: 'Jobs with higher numbers are handed out first.',
    }),
    position: integer(
      'Place in the queue, from 1. Jobs that the caller may not see are left out but have places.',
    ),
    waiting_reason: orNull(
      text('Why no agent has taken the job yet, for people; null in hosted queues that are not paused.'),
    ),
    ...estimateFields,
    ...listedJobFields,
  },
  { title: 'WaitingJob' },
)

const Seconds = (description: string) => orNull(Type.Number({ description }))

export const QueueMetrics = Type.Object(
  {
    waiting: integer('Jobs that wait for an agent.'),
    running: integer('Jobs that run.'),
    connected: integer('Agents that are connected.'),
    busy: integer('Agents that have a job.'),
    wait_p50_seconds: Seconds(
      'Median wait of the jobs that started in the last 60 minutes; null without any.',
    ),
    wait_p95_seconds: Seconds('The wait that 95 % of these jobs did not exceed; null without any.'),
    estimates: Type.Object(
      {
        jobs: integer('Jobs with an estimate that have started, or should have. At most 2,000.'),
        p50_seconds: Seconds('Half of the estimates were wrong by at most so much; null without any.'),
        p90_seconds: Seconds('90 % of the estimates were wrong by at most so much; null without any.'),
      },
      {
        description:
          'How far the first `estimated_start_at` of jobs was from their start in the last 7 days. Jobs that started at once have none.',
      },
    ),
    points: Type.Array(Type.Array(Type.Integer()), {
      description:
        'One entry a minute, oldest first: Unix milliseconds, jobs that waited, jobs that ran. Of at most 20,000 unfinished and 20,000 finished jobs.',
    }),
  },
  { title: 'QueueMetrics' },
)
