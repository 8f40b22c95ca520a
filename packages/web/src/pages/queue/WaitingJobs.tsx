import { Link } from '@tanstack/react-router'
import { Label } from '../../parts/Label.tsx'
import { Empty } from '../../parts/States.tsx'
import table from '../../parts/Table.module.css'
import { Time } from '../../parts/time/Time.tsx'
import type { WaitingJob } from './queries.ts'

/** In the order in which agents will take them. */
export function WaitingJobs({ jobs }: { jobs: readonly WaitingJob[] }) {
  if (jobs.length === 0) return <Empty title="No job waits in this queue." />
  return (
    <div className={table.scroll}>
      <table className={table.table} aria-label="Waiting jobs">
        <thead>
          <tr>
            <th className={table.right}>#</th>
            <th>Job</th>
            <th className={table.optional}>Needs</th>
            <th>Waits since</th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <Row key={job.position} job={job} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

const Row = ({ job }: { job: WaitingJob }) => (
  <tr>
    <td className={`${table.right} ${table.muted}`}>{job.position}</td>
    <td>
      <Link to={new URL(job.web_url).pathname} hash={job.id}>
        <Label text={job.name ?? job.command ?? 'Job'} />
      </Link>
    </td>
    <td className={`${table.optional} ${table.muted}`}>{job.agent_query_rules.join(', ')}</td>
    <td className={table.muted}>{job.runnable_at !== null && <Time at={job.runnable_at} />}</td>
  </tr>
)
