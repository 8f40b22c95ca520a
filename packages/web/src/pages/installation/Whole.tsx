import type { ReactNode } from 'react'
import { Facts } from '../../parts/Facts.tsx'
import { showLabel } from '../../parts/labels.ts'
import { Notice } from '../../parts/settings/Notice.tsx'
import { SectionHead } from '../../parts/settings/SectionHead.tsx'
import { Empty } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { formatDuration } from '../../parts/time/durations.ts'
import { Time } from '../../parts/time/Time.tsx'
import type { Installation } from './queries.ts'
import { formatBytes } from './sizes.ts'

export const Whole = ({ installation }: { installation: Installation }) => (
  <>
    {installation.alerts.map(({ name, summary }) => (
      <Notice key={`${name} ${summary}`}>
        {name}: {summary} The runbook says what to do.
      </Notice>
    ))}
    <Facts isFramed facts={factsOf(installation)} />
    <SectionHead title="Processes" />
    <Table
      label="Processes"
      rows={installation.processes}
      columns={[
        { head: 'Process', render: ({ id }) => id },
        { head: 'Does', render: ({ roles }) => roles.map((role) => roleNames[role] ?? role).join(', ') },
        { head: 'Version', look: 'aside', render: ({ version }) => version ?? 'An earlier one' },
        { head: 'Connections', look: 'muted', render: ({ connections }) => connections },
        { head: 'Since', look: 'muted', render: ({ since }) => <Time at={since} /> },
      ]}
    />
    <SectionHead title="Background tasks" />
    <Tasks tasks={installation.tasks} />
    <SectionHead title="Organizations" />
    <Table
      label="Organizations"
      rows={installation.organizations.map((each) => ({ ...each, id: each.slug }))}
      columns={[
        { head: 'Name', titleOf: ({ slug }) => slug, render: ({ name }) => showLabel(name) },
        { head: 'Address', look: 'aside', render: ({ slug }) => slug },
        { head: 'Members', look: 'muted', render: ({ members }) => members },
        { head: 'Pipelines', look: 'muted', render: ({ pipelines }) => pipelines },
        { head: 'Since', look: 'muted', render: ({ created_at: at }) => <Time at={at} /> },
      ]}
    />
    {installation.organizations_count > installation.organizations.length && (
      <p className="muted">The oldest of {installation.organizations_count}.</p>
    )}
  </>
)

const roleNames: Readonly<Record<string, string>> = {
  api: 'Requests',
  worker: 'background work',
  agent: 'local agents',
}

const factsOf = (installation: Installation): ReadonlyArray<readonly [string, ReactNode]> => {
  const { database, store, schedules, last_backup: backup } = installation
  return [
    ['Version', installation.version],
    ['Address', installation.url],
    [
      'Database',
      `PostgreSQL ${database.version}, ${database.kind === 'embedded' ? 'run by Millrace' : 'of DATABASE_URL'}, ${formatBytes(database.bytes)}`,
    ],
    ['Store', `${store.kind === 'disk' ? 'Disk' : 'S3'}, ${store.place}`],
    [
      'Last backup',
      backup === null ? (
        'None by “millrace backup”'
      ) : (
        <span key="backup">
          <Time at={backup.at} />, {formatBytes(backup.bytes)}
        </span>
      ),
    ],
    [
      'Schedules',
      <span key="schedules">
        {schedules.enabled} enabled
        {schedules.next_build_at !== null && (
          <>
            , the next <Time at={schedules.next_build_at} />
          </>
        )}
      </span>,
    ],
    ['Events not yet read', String(installation.unread_events)],
    ['Notifications on their way', String(installation.pending_deliveries)],
    ['Alerts', installation.alerts.length === 0 ? 'None of those that the database shows' : null],
  ]
}

function Tasks({ tasks }: { tasks: Installation['tasks'] }) {
  if (tasks.length === 0) return <Empty title="No task waits" />
  return (
    <Table
      label="Background tasks"
      rows={tasks.map((each) => ({ ...each, id: each.kind }))}
      columns={[
        { head: 'Task', render: ({ kind }) => kind.replaceAll('_', ' ') },
        { head: 'Waiting', look: 'muted', render: ({ waiting }) => waiting },
        {
          head: 'Oldest',
          look: 'aside',
          render: ({ oldest_waiting_seconds: seconds }) => formatDuration(Math.round(seconds)),
        },
        { head: 'Retrying', look: 'muted', render: ({ retrying }) => retrying },
        { head: 'Given up', look: 'muted', render: ({ dead }) => dead },
      ]}
    />
  )
}
