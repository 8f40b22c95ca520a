import { Type } from 'typebox'
import { count, integer, oneOf, orNull, text, Timestamp, timestamp } from '../../schema.ts'

const Process = Type.Object(
  {
    id: text('Its number and its host.'),
    roles: Type.Array(Type.String(), { description: 'What it does: `api`, `worker` or both.' }),
    version: orNull(text('Its version; null for one of an earlier release.')),
    connections: count('Its connections to the database.'),
    since: timestamp('When the oldest of its connections was opened.'),
  },
  { title: 'InstallationProcess' },
)

const TaskQueue = Type.Object(
  {
    kind: text('What the tasks do.'),
    waiting: count('Tasks that are due and that no worker has.'),
    oldest_waiting_seconds: Type.Number({ description: 'How long the one that has waited longest is due.' }),
    retrying: count('Tasks that failed and will be tried again.'),
    dead: count('Tasks that failed too often and will not be tried again.'),
  },
  { title: 'InstallationTaskQueue' },
)

const Alert = Type.Object(
  {
    name: text('As in the alerts for Prometheus, and the runbook.'),
    summary: text('What is wrong now.'),
  },
  { title: 'InstallationAlert' },
)

const OrganizationInstalled = Type.Object(
  {
    slug: Type.String(),
    name: Type.String(),
    members: count('Its members.'),
    pipelines: count('Its pipelines.'),
    created_at: Timestamp,
  },
  { title: 'InstallationOrganization' },
)

export const Installation = Type.Object(
  {
    version: text('Of the process that answers.'),
    url: text('The address that people use.'),
    processes: Type.Array(Process, { description: 'Servers and workers that use the database now.' }),
    database: Type.Object(
      {
        kind: oneOf(['embedded', 'url'], 'Whether Millrace runs it itself.'),
        version: text('Version of PostgreSQL.'),
        bytes: count('Its size.'),
      },
      { description: 'The database.' },
    ),
    store: Type.Object(
      {
        kind: oneOf(['disk', 's3'], 'Where logs and artifacts are.'),
        place: text('The folder, or the bucket with its prefix.'),
      },
      { description: 'The store of logs and artifacts.' },
    ),
    tasks: Type.Array(TaskQueue, { description: 'Background tasks by kind; without a kind that has none.' }),
    unread_events: count('Events of which no service was told yet; counted up to 100,000.'),
    pending_deliveries: count('Notifications that are still to be delivered.'),
    schedules: Type.Object(
      {
        enabled: count('Schedules of pipelines that are enabled.'),
        next_build_at: orNull(timestamp('When the next of them is due; null when there is none.')),
      },
      { description: 'Schedules of all pipelines.' },
    ),
    alerts: Type.Array(Alert, {
      description:
        'Those alerts of the database whose conditions hold now. Prometheus waits some minutes more.',
    }),
    organizations: Type.Array(OrganizationInstalled, { description: 'The first 100, oldest first.' }),
    organizations_count: integer('How many organizations there are.'),
    last_backup: orNull(
      Type.Object({
        at: timestamp('When it was complete.'),
        bytes: count('The size of its file.'),
      }),
      'The last one of `millrace backup`; null when there was none, or only ways of your own.',
    ),
  },
  { title: 'Installation' },
)
