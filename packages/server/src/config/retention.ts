// How long rows and files are kept.
import { flag, integer, subject, type Reader } from './settings.ts'

/** As resources/builds/retention/schema.ts has them for organizations and pipelines. */
const mostDays = 36_500
const mostKeptBuilds = 1_000_000

export const retentionSettings = subject('Retention', {
  MILLRACE_BUILD_DAYS: integer(
    { absent: 365, from: 0, to: mostDays },
    'How many days after their end builds are kept; 0 for no limit. See [retention.md](retention.md), also for settings of organizations and pipelines',
  ),
  MILLRACE_KEEP_NEWEST_BUILDS: integer(
    { absent: 100, from: 0, to: mostKeptBuilds },
    'So many newest builds of a pipeline are kept longer',
  ),
  MILLRACE_ARCHIVE_BUILDS: flag(
    'on',
    'Whether builds are archived in the blob store before they are deleted',
  ),
  MILLRACE_ARCHIVE_DAYS: integer({ absent: 3650, from: 0, to: mostDays }, 'How long archives are kept'),
  MILLRACE_LOG_DAYS: integer(
    { absent: 0, from: 0, to: mostDays },
    'How long logs are kept; 0: as long as the build or its archive',
  ),
  MILLRACE_ARTIFACT_DAYS: integer(
    { absent: 90, from: 0, to: mostDays },
    'How many days after the end of the build the files of artifacts are kept',
  ),
  MILLRACE_AGENT_DAYS: integer(
    { absent: 30, from: 1, to: 36_500 },
    'How long disconnected agents are kept. An agent that ran a job is kept as long as the job',
  ),
  MILLRACE_EVENT_DAYS: integer(
    { absent: 14, from: 1, to: 3650 },
    'How long events are kept at least: a page or event stream that reconnects later loads everything again',
  ),
  MILLRACE_LOG_FINDING_DAYS: integer(
    { absent: 30, from: 1, to: 3650 },
    'How long the telling rows of failed jobs are kept, which searches look through first',
  ),
  MILLRACE_AUDIT_DAYS: integer(
    { absent: 730, from: 1, to: 36_500 },
    'How long audit events are kept at least. They are deleted by the month',
  ),
})

/** Days are counted from the end of a build; 0: no limit. */
export type RetentionDefaults = ReturnType<typeof readRetention>['retention']

export function readRetention(reader: Reader) {
  const values = reader.read(retentionSettings)
  const retention = {
    build_days: values.MILLRACE_BUILD_DAYS,
    log_days: values.MILLRACE_LOG_DAYS,
    artifact_days: values.MILLRACE_ARTIFACT_DAYS,
    archive_days: values.MILLRACE_ARCHIVE_DAYS,
    /** So many newest builds of a pipeline are kept, however old they are. */
    keep_newest_builds: values.MILLRACE_KEEP_NEWEST_BUILDS,
    /** Whether a build is archived before its rows are deleted. */
    archive_builds: values.MILLRACE_ARCHIVE_BUILDS,
  }
  return {
    retention,
    agentDays: values.MILLRACE_AGENT_DAYS,
    eventDays: values.MILLRACE_EVENT_DAYS,
    logFindingDays: values.MILLRACE_LOG_FINDING_DAYS,
    auditDays: values.MILLRACE_AUDIT_DAYS,
  }
}
