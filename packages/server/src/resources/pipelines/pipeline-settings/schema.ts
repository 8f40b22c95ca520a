import { Type, type Static } from 'typebox'
import { orNull, Timestamp, Uuid } from '../../schema.ts'

const enablement = {
  enabled: Type.Boolean(),
  enabled_at: orNull(Timestamp),
  enabled_by: orNull(Type.Object({ id: Uuid, name: Type.String() })),
}

export const PipelineSettings = Type.Object(
  {
    url: Type.String(),
    default_branch: orNull(Type.String()),
    default_cluster_id: orNull(Uuid),
    default_timeout_in_minutes: orNull(Type.Integer()),
    maximum_timeout_in_minutes: orNull(Type.Integer()),
    scheduled_job_expiry_in_minutes: orNull(Type.Integer()),
    hosted_agents_terminal_access: Type.Object(enablement),
    public_pipeline_creation: Type.Object(enablement),
    advanced_queue_metrics: Type.Object({ ...enablement, disable_supported: Type.Boolean() }),
    build_exports: Type.Object({
      available: Type.Boolean(),
      enabled: Type.Boolean(),
      location: orNull(Type.String()),
      strategy_id: orNull(Type.String()),
      supported_strategies: Type.Array(Type.String()),
    }),
  },
  { title: 'PipelineSettings' },
)

const minutesInYear = 525_600
const Minutes = orNull(Type.Integer({ minimum: 1, maximum: minutesInYear }))

export const UpdatePipelineSettings = Type.Object(
  {
    default_branch: Type.Optional(orNull(Type.String({ maxLength: 255 }))),
    default_cluster_id: Type.Optional(
      orNull(Type.String({ description: 'Where pipelines go that do not name a cluster.' })),
    ),
    default_timeout_in_minutes: Type.Optional(Minutes),
    maximum_timeout_in_minutes: Type.Optional(Minutes),
    scheduled_job_expiry_in_minutes: Type.Optional(Minutes),
  },
  {
    title: 'UpdatePipelineSettings',
    examples: [{ default_branch: 'main', default_timeout_in_minutes: 60, maximum_timeout_in_minutes: 240 }],
  },
)

export const EnableBuildExport = Type.Object(
  {
    location: Type.String({ maxLength: 1000, pattern: '\\S', description: 'must not be blank' }),
    strategy_id: Type.Union([Type.Literal('s3'), Type.Literal('gcs')]),
  },
  { title: 'EnableBuildExport', examples: [{ location: 'acme-builds', strategy_id: 's3' }] },
)

export type UpdatePipelineSettingsBody = Static<typeof UpdatePipelineSettings>
export type EnableBuildExportBody = Static<typeof EnableBuildExport>
