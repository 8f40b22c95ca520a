import { Type, type Static } from 'typebox'
import { integer, orNull, text, Uuid } from '../../schema.ts'

/** As config/retention.ts has them for the settings of the installation. */
const mostDays = 36_500
const mostKeptBuilds = 1_000_000

const descriptions = {
  build_days: 'Days after the end of a build until its rows are deleted; 0: no limit.',
  log_days:
    'Days after the end of a build until its logs are deleted; 0: as long as the build or its archive.',
  artifact_days:
    'Days after the end of a build until the files of its artifacts are deleted; 0: as long as the build.',
  archive_days: 'Days after the end of a build until its archive is deleted; 0: no limit.',
  keep_newest_builds: 'So many newest builds of a pipeline are kept, however old they are.',
  archive_builds: 'Whether a build is archived before its rows are deleted.',
}

const Days = (description: string) => Type.Integer({ minimum: 0, maximum: mostDays, description })

const settings = {
  build_days: Days(descriptions.build_days),
  log_days: Days(descriptions.log_days),
  artifact_days: Days(descriptions.artifact_days),
  archive_days: Days(descriptions.archive_days),
  keep_newest_builds: Type.Integer({
    minimum: 0,
    maximum: mostKeptBuilds,
    description: descriptions.keep_newest_builds,
  }),
  archive_builds: Type.Boolean({ description: descriptions.archive_builds }),
}

const own = {
  build_days: orNull(settings.build_days),
  log_days: orNull(settings.log_days),
  artifact_days: orNull(settings.artifact_days),
  archive_days: orNull(settings.archive_days),
  keep_newest_builds: orNull(settings.keep_newest_builds),
  archive_builds: orNull(settings.archive_builds),
}

const WholeDays = (description: string) => Type.Integer({ description })

export const Retention = Type.Object(
  {
    url: Type.String(),
    preview_url: text('Address of the preview: what would be deleted now.'),
    ...own,
    effective: Type.Object(settings, {
      description: 'What holds: the pipeline’s setting, else the organization’s, else the installation’s.',
    }),
    installation: Type.Object(
      {
        agent_days: WholeDays('Days until a disconnected agent without jobs is deleted.'),
        delivery_days: WholeDays('Days until a finished notification is deleted.'),
        dead_letter_days: WholeDays('Days until a notification that could not be delivered is deleted.'),
        webhook_delivery_days: WholeDays('Days until the record of a received webhook is deleted.'),
        event_days: WholeDays('Days that events of the outbox are kept at least.'),
        audit_event_days: WholeDays('Days that audit events are kept at least.'),
      },
      { description: 'Limits that hold for the whole installation.' },
    ),
  },
  { title: 'Retention' },
)

export const UpdateRetention = Type.Object(
  {
    build_days: Type.Optional(own.build_days),
    log_days: Type.Optional(own.log_days),
    artifact_days: Type.Optional(own.artifact_days),
    archive_days: Type.Optional(own.archive_days),
    keep_newest_builds: Type.Optional(own.keep_newest_builds),
    archive_builds: Type.Optional(own.archive_builds),
  },
  { title: 'UpdateRetention', examples: [{ build_days: 180, log_days: 90, keep_newest_builds: 50 }] },
)

const trial = (description: string) => `Try this value instead of the stored one. ${description}`

export const PreviewQuery = {
  build_days: Type.Optional(Days(trial(descriptions.build_days))),
  log_days: Type.Optional(Days(trial(descriptions.log_days))),
  artifact_days: Type.Optional(Days(trial(descriptions.artifact_days))),
  archive_days: Type.Optional(Days(trial(descriptions.archive_days))),
  keep_newest_builds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: mostKeptBuilds,
      description: trial(descriptions.keep_newest_builds),
    }),
  ),
  archive_builds: Type.Optional(Type.Boolean({ description: trial(descriptions.archive_builds) })),
}

const part = {
  count: integer('How many would be deleted.'),
  blob_bytes: integer('Bytes of their objects in the blob store. Exact.'),
  database_bytes: integer(
    'Bytes in the database, with indexes. An estimate, from the average size of a row.',
  ),
  oldest: orNull(Type.String({ format: 'date-time', description: 'When the first of the builds ended.' })),
  newest: orNull(Type.String({ format: 'date-time', description: 'When the last of the builds ended.' })),
}

const Part = (description: string) => Type.Object(part, { description })

const parts = {
  builds: Type.Object(
    {
      ...part,
      archived_count: integer('How many of them would be archived first.'),
    },
    { description: 'Builds with all their rows.' },
  ),
  logs: Part('Logs, of builds that stay and of builds that would be deleted.'),
  artifacts: Part('Files of artifacts, of builds that stay and of builds that would be deleted.'),
  archived_builds: Part('Archives of builds.'),
}

export const RetentionPreview = Type.Object(
  {
    now: Type.String({ format: 'date-time', description: 'The time for which everything was counted.' }),
    ...parts,
    test_runs: Part('Test runs that belong to no build; in the preview of an organization.'),
    pipelines: Type.Array(
      Type.Object({
        id: Uuid,
        slug: Type.String(),
        retention_url: text('Address of its settings.'),
        ...parts,
      }),
      { description: 'Pipelines of which something would be deleted.' },
    ),
  },
  { title: 'RetentionPreview' },
)

export type UpdateRetentionBody = Static<typeof UpdateRetention>
