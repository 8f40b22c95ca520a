import { Type, type Static } from 'typebox'
import { boolean, integer, oneOf, optional, orNull, text, timestamp, Uuid, uuid } from '../../schema.ts'

const Enabled = boolean('Whether it is switched on.')

const enablement = {
  enabled: Enabled,
  enabled_at: orNull(timestamp('When it was switched on; null when it is off.')),
  enabled_by: orNull(
    Type.Object({ id: Uuid, name: Type.String() }),
    'Who switched it on; null when it is off.',
  ),
}

export const PipelineSettings = Type.Object(
  {
    url: Type.String(),
    default_branch: orNull(text('Branch that is built when none is named, and shown first.')),
    default_cluster_id: orNull(
      uuid('UUID of the cluster for pipelines that name none; null when there is none.'),
    ),
    default_timeout_in_minutes: orNull(
      integer('Minutes after which a command step is canceled when nothing else is set; null: none.'),
    ),
    maximum_timeout_in_minutes: orNull(
      integer('The most minutes that any command step may run; null: no limit.'),
    ),
    scheduled_job_expiry_in_minutes: orNull(
      integer('Minutes after which a job that no agent took expires; null: the installation’s own limit.'),
    ),
    currency: text('ISO code of the currency that prices of queues are in, such as `USD`.'),
    hosted_agents_terminal_access: Type.Object(enablement, {
      description: 'Whether members may open a terminal on hosted agents.',
    }),
    public_pipeline_creation: Type.Object(enablement, {
      description: 'Whether pipelines that everybody may see can be created.',
    }),
    advanced_queue_metrics: Type.Object(
      {
        ...enablement,
        disable_supported: boolean('Whether it can be switched off again.'),
      },
      { description: 'Whether queues show detailed figures.' },
    ),
    build_exports: Type.Object(
      {
        available: boolean('Whether it may be used.'),
        enabled: Enabled,
        location: orNull(text('Name of the bucket; null when nothing is exported.')),
        strategy_id: orNull(text('Kind of the object storage.')),
        supported_strategies: Type.Array(Type.String(), {
          description: 'Kinds of object storage that can be named.',
        }),
      },
      { description: 'Where finished builds are exported to.' },
    ),
  },
  { title: 'PipelineSettings' },
)

const minutesInYear = 525_600

export const UpdatePipelineSettings = Type.Object(
  {
    default_branch: optional(
      Type.String({ maxLength: 255 }),
      'Branch that is built when none is named, and shown first.',
    ),
    default_cluster_id: optional(text('Where pipelines go that do not name a cluster.')),
    default_timeout_in_minutes: optional(
      Type.Integer({ minimum: 1, maximum: minutesInYear }),
      'Minutes after which a command step is canceled when nothing else is set; null: none.',
    ),
    maximum_timeout_in_minutes: optional(
      Type.Integer({ minimum: 1, maximum: minutesInYear }),
      'The most minutes that any command step may run; null: no limit.',
    ),
    scheduled_job_expiry_in_minutes: optional(
      Type.Integer({ minimum: 1, maximum: minutesInYear }),
      'Minutes after which a job that no agent took expires; null: the installation’s own limit.',
    ),
    currency: Type.Optional(
      Type.String({
        pattern: '^[A-Z]{3}$',
        description:
          'ISO code of the currency that prices of queues are in: three capital letters, such as `EUR`. No price is converted.',
      }),
    ),
  },
  {
    title: 'UpdatePipelineSettings',
    examples: [{ default_branch: 'main', default_timeout_in_minutes: 60, maximum_timeout_in_minutes: 240 }],
  },
)

export const EnableBuildExport = Type.Object(
  {
    location: Type.String({
      maxLength: 1000,
      pattern: '\\S',
      description: 'Name of the bucket. Must not be blank.',
    }),
    strategy_id: oneOf(['s3', 'gcs'], 'Kind of the object storage.'),
  },
  { title: 'EnableBuildExport', examples: [{ location: 'acme-builds', strategy_id: 's3' }] },
)

export type UpdatePipelineSettingsBody = Static<typeof UpdatePipelineSettings>
export type EnableBuildExportBody = Static<typeof EnableBuildExport>
