import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { showLabel } from '../../parts/labels.ts'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { Duration, Time } from '../../parts/time/Time.tsx'
import { JobBuild } from '../agents/JobBuild.tsx'
import { agentJobsQuery } from '../agents/queries.ts'

/** What the agent runs and has run, as far as the person may see it. */
export function PastJobs({ org, agent }: { org: string; agent: string }) {
  const list = useInfiniteQuery(agentJobsQuery(org, agent))
  const jobs = list.data?.pages.flatMap(({ rows }) => rows)
  if (jobs === undefined) return <NotLoaded query={list} rows={3} />
  if (jobs.length === 0)
    return <Empty title="No jobs">It has run none yet, or none of a pipeline that you may see.</Empty>
  return (
    <>
      <Table
        label="Jobs of this agent"
        isLive
        rows={jobs}
        columns={[
          {
            head: 'State',
            render: (job) => (
              <StateBadge
                kind="job"
                state={job.state}
                detail={{ softFailed: job.soft_failed }}
                isQuiet={job.state === 'passed'}
              />
            ),
          },
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
          {
            head: 'Took',
            look: 'optional',
            render: (job) => <Duration from={job.started_at} to={job.finished_at} />,
          },
          {
            head: 'Ended',
            look: 'muted',
            render: ({ finished_at: at }) => (at === null ? 'Runs now' : <Time at={at} />),
          },
        ]}
      />
      <ShowMore list={list} />
    </>
  )
}
