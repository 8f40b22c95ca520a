import { Type, type Static } from 'typebox'
import { orNull, Timestamp, Uuid } from '../../schema.ts'
import { UserOrNull } from '../../people/user/schema.ts'

export const Schedule = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    url: Type.String(),
    label: Type.String(),
    cronline: Type.String(),
    message: orNull(Type.String()),
    commit: Type.String(),
    branch: Type.String(),
    env: Type.Record(Type.String(), Type.String()),
    enabled: Type.Boolean(),
    next_build_at: orNull(Timestamp),
    failed_message: orNull(Type.String({ description: 'Why the last time no build could be made.' })),
    failed_at: orNull(Timestamp),
    created_at: Timestamp,
    created_by: UserOrNull,
    pipeline: Type.Object({ id: Uuid, slug: Type.String(), url: Type.String() }),
  },
  { title: 'PipelineSchedule' },
)

const Cronline = Type.String({
  maxLength: 1000,
  description:
    'Five cron fields and, if not UTC, a time zone; or @hourly, @daily, @weekly, @monthly, @yearly.',
  examples: ['0 9 * * mon-fri Europe/Berlin'],
})

const optionalFields = {
  label: Type.Optional(orNull(Type.String({ maxLength: 255 }))),
  message: Type.Optional(orNull(Type.String({ maxLength: 10_000 }))),
  commit: Type.Optional(orNull(Type.String({ maxLength: 255 }))),
  branch: Type.Optional(orNull(Type.String({ maxLength: 255 }))),
  env: Type.Optional(
    orNull(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])),
    ),
  ),
  enabled: Type.Optional(Type.Boolean()),
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
