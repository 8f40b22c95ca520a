import { showLabel } from '../../parts/labels.ts'
import { Link } from '@tanstack/react-router'
import { JobBuild } from '../agents/JobBuild.tsx'
import { Empty } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { Expected, Time } from '../../parts/time/Time.tsx'
import type { WaitingJob } from './queries.ts'

/** In the order in which agents take them. */
export function WaitingJobs({ org, jobs }: { org: string; jobs: readonly WaitingJob[] }) {
  if (jobs.length === 0) return <Empty title="No job waits in this queue." />
  return (
    <Table
      label="Waiting jobs"
      isLive
      rows={jobs}
      columns={[
        {
          head: 'Job',
          titleOf: (job) => showLabel(job.name ?? job.command ?? 'Job'),
          render: (job) => (
            <Link to={new URL(job.web_url).pathname} hash={job.id}>
              {showLabel(job.name ?? job.command ?? 'Job')}
            </Link>
          ),
        },
        { head: 'Build', render: (job) => <JobBuild org={org} job={job} /> },
        { head: 'Place', look: 'number', render: ({ position }) => position },
        {
          head: 'Why it waits',
          look: 'aside',
          titleOf: ({ waiting_reason: reason }) => reason ?? undefined,
          render: ({ waiting_reason: reason }) => reason ?? 'For a hosted agent',
        },
        {
          head: 'Starts, probably',
          look: 'aside',
          titleOf: ({ estimate_unknown: unknown }) => unknown?.reason,
          render: ({ estimated_start_at: at }) => (at === null ? 'Not known' : <Expected at={at} />),
        },
        {
          head: 'Since',
          look: 'aside',
          render: ({ runnable_at: since }) => since !== null && <Time at={since} />,
        },
      ]}
    />
  )
}
