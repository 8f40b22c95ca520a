import { showLabel } from '../../parts/labels.ts'
import { Link } from '@tanstack/react-router'
import { Empty } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/time/Time.tsx'
import type { WaitingJob } from './queries.ts'

/** In the order in which agents will take them. */
export function WaitingJobs({ jobs }: { jobs: readonly WaitingJob[] }) {
  if (jobs.length === 0) return <Empty title="No job waits in this queue." />
  return (
    <Table
      label="Waiting jobs"
      rows={jobs}
      columns={[
        { head: '#', look: 'number', render: ({ position }) => position },
        {
          head: 'Job',
          render: (job) => (
            <Link to={new URL(job.web_url).pathname} hash={job.id}>
              {showLabel(job.name ?? job.command ?? 'Job')}
            </Link>
          ),
        },
        { head: 'Build', look: 'muted', render: (job) => buildOf(job.web_url) },
        { head: 'Needs', look: 'aside', render: (job) => job.agent_query_rules.join(', ') },
        {
          head: 'Waits since',
          look: 'muted',
          render: ({ runnable_at: since }) => since !== null && <Time at={since} />,
        },
      ]}
    />
  )
}

/** `demo #12` */
function buildOf(webUrl: string): string {
  const [, , pipeline = '', , number = ''] = new URL(webUrl).pathname.split('/')
  return `${pipeline} #${number}`
}
