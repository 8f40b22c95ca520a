import { Type, type Static } from 'typebox'
import { count, integer, oneOf, orNull, text, timestamp, Uuid } from '../../schema.ts'

const groupings = ['queue', 'pipeline', 'team', 'creator', 'step'] as const

const sorts = [
  'cost',
  'seconds',
  'jobs',
  'failures',
  'retries',
  'wait_p50',
  'wait_p95',
  'run_p50',
  'run_p95',
] as const

const GroupBy = oneOf(groupings, 'What the jobs are grouped by. Default `pipeline`.')
export const Period = oneOf(
  ['1h', '24h', '7d', '30d'],
  'How long the period is: it ends now, and consists of whole minutes (`1h`), hours (`24h`, `7d`) or days (`30d`) of UTC. Default `24h`.',
)
const Sort = oneOf(sorts, 'What is highest comes first. Default `cost`.')

const Seconds = (description: string) => orNull(Type.Number({ description }))

const measures = {
  jobs: count('Jobs that ended and had started, and those that expired while they waited.'),
  failures: count('Those that failed, timed out or expired, without those that may fail.'),
  retries: count('Those that were retries of another job.'),
  seconds: Type.Number({ description: 'How long they ran, together.' }),
  cost: Type.Number({
    description: 'What that cost, in `currency`, by the price of each queue at the end of the job.',
  }),
  wait_p50_seconds: Seconds('Median time for which they waited for an agent, within 5 %; null without any.'),
  wait_p95_seconds: Seconds('The wait that 95 % did not exceed, within 5 %.'),
  run_p50_seconds: Seconds('Median time for which they ran, within 5 %.'),
  run_p95_seconds: Seconds('The time that 95 % did not exceed, within 5 %.'),
}

const QueueLoad = Type.Object({
  waiting: Type.Number({ description: 'Jobs that waited, on average.' }),
  running: Type.Number({ description: 'Jobs that ran, on average.' }),
  connected: Type.Number({ description: 'Agents that were connected, on average.' }),
  busy: Type.Number({ description: 'Agents that had a job, on average.' }),
  utilization: orNull(
    Type.Number({
      description: 'Share of the connected agents that had a job, 0 to 1; null without agents.',
    }),
  ),
})

const InsightGroup = Type.Object(
  {
    id: orNull(Uuid, 'UUID; null: without a team, creator or queue, or the rest of very many.'),
    name: orNull(text('Name, or key of the queue; null: deleted, or there is none.')),
    pipeline: orNull(
      Type.Object({ id: Uuid, slug: Type.String(), name: Type.String() }),
      'Of a pipeline or step; null for others, and when it is deleted.',
    ),
    cluster_id: orNull(Uuid, 'Of a queue; null for others.'),
    ...measures,
    load: orNull(
      QueueLoad,
      'How busy the queue was: averages of the minutes in which there were agents or jobs; null for others than queues.',
    ),
    points: Type.Array(Type.Array(Type.Number()), {
      description:
        'An entry for each unit in which jobs ended, oldest first: its start in Unix milliseconds, jobs, failures, seconds, cost.',
    }),
  },
  { title: 'InsightGroup' },
)

export const Insights = Type.Object(
  {
    group_by: GroupBy,
    period: Period,
    from: timestamp('When the period begins.'),
    to: timestamp('When it ends; in the future if its last unit is not over.'),
    unit_seconds: integer('Length of a unit: 60, 3600 or 86400.'),
    currency: text('ISO code of the organization’s currency.'),
    total: Type.Object(
      {
        ...measures,
        points: Type.Array(
          Type.Object({
            at: timestamp('When the unit begins.'),
            ...measures,
          }),
          { description: 'The units in which jobs ended, oldest first.' },
        ),
      },
      { description: 'All jobs, each once.' },
    ),
    groups: Type.Array(InsightGroup, {
      description: 'A page of the groups. A pipeline with several teams counts to each of them.',
    }),
  },
  { title: 'Insights' },
)

export const InsightQuery = {
  group_by: Type.Optional(GroupBy),
  period: Type.Optional(Period),
  from: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'Where the period begins, instead of ending now. Minutes are kept for 3 hours, hours for 15 days, days for 62 days.',
    }),
  ),
  pipeline: Type.Optional(
    Type.Array(Type.String(), { maxItems: 50, description: 'Only jobs of the pipelines with these slugs.' }),
  ),
  queue: Type.Optional(
    Type.String({ format: 'uuid', description: 'Only jobs of the queue with this UUID.' }),
  ),
  sort: Type.Optional(Sort),
}

export type InsightQueryValues = { [Name in keyof typeof InsightQuery]?: Static<(typeof InsightQuery)[Name]> }
