import { Type, type Static } from 'typebox'
import { boolean, optional, orNull, text, Timestamp, timestamp, Uuid } from '../../schema.ts'
import { UserOrNull } from '../../people/user/schema.ts'

export const Schedule = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    url: Type.String(),
    label: text('Name of the schedule, for people.'),
    cronline: text('When builds are made: five cron fields and a time zone, or a word such as `@daily`.'),
    message: orNull(text('Message of the builds; null: the label.')),
    commit: Type.String(),
    branch: Type.String(),
    env: Type.Record(Type.String(), Type.String()),
    enabled: boolean('Whether the schedule makes builds.'),
    next_build_at: orNull(
      timestamp('When the next build is due; null when none is, as while the schedule is disabled.'),
    ),
    failed_message: orNull(text('Why the last time no build could be made.')),
    failed_at: orNull(timestamp('When a build could last not be made; null when the last one was.')),
    created_at: Timestamp,
    created_by: UserOrNull,
    pipeline: Type.Object(
      { id: Uuid, slug: Type.String(), url: Type.String() },
      { description: 'The pipeline.' },
    ),
  },
  { title: 'PipelineSchedule' },
)

const Cronline = Type.String({
  maxLength: 1000,
  description:
    'Five cron fields and, if not UTC, a time zone; or @hourly, @daily, @weekly, @monthly, @yearly.',
  examples: ['0 9 * * mon-fri Europe/Berlin'],
})

export const SchedulePreview = Type.Object(
  {
    builds_at: Type.Array(Type.String({ format: 'date-time' }), {
      description: 'The next times, the first first: five, or fewer when there are no more.',
    }),
  },
  { title: 'PipelineSchedulePreview' },
)

export const PreviewQuery = { cronline: Cronline }

const optionalFields = {
  label: optional(Type.String({ maxLength: 255 }), 'Name of the schedule, for people.'),
  message: optional(Type.String({ maxLength: 10_000 })),
  commit: optional(Type.String({ maxLength: 255 })),
  branch: optional(Type.String({ maxLength: 255 })),
  env: optional(
    Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])),
  ),
  enabled: Type.Optional(boolean('Whether it is switched on.')),
}

export const CreateSchedule = Type.Object(
  { cronline: Cronline, ...optionalFields },
  {
    title: 'CreatePipelineSchedule',
    examples: [{ label: 'Nightly', cronline: '0 3 * * *', branch: 'main', env: { FULL: 'true' } }],
  },
)

export const UpdateSchedule = Type.Object(
  { cronline: Type.Optional(Cronline), ...optionalFields },
  { title: 'UpdatePipelineSchedule', examples: [{ enabled: false }] },
)

export type CreateScheduleBody = Static<typeof CreateSchedule>
export type UpdateScheduleBody = Static<typeof UpdateSchedule>
