import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../../api/operations.ts'
import type { Job } from '../../../graph/jobs/job.ts'
import { Duration, Time } from '../../../parts/time/Time.tsx'
import { Facts } from '../../../parts/Facts.tsx'
import { queueQuery } from '../../../api/resource-queries.ts'
import styles from '../Content.module.css'

interface Props {
  job: Job
  detail: Schemas['Job'] | undefined
  org: string
}

export const JobTimeline = ({ job, detail, org }: Props) => (
  <div className={styles.scroll}>
    <Facts
      facts={[
        ['Created', timeOf(job.createdMs)],
        ['Could run', timeOf(job.runnableMs)],
        ['Waited', span(job.runnableMs, job.startedMs ?? job.finishedMs)],
        ['Started', timeOf(job.startedMs)],
        ['Finished', timeOf(job.finishedMs)],
        ['Ran', span(job.startedMs, job.finishedMs)],
        ['Exit status', job.exitStatus],
        ['Signal', detail?.signal],
        ['Agent', detail?.agent === undefined || detail.agent === null ? job.agent : agentOf(detail.agent)],
        ['Queue', <Queue key="queue" detail={detail} org={org} />],
        ['Agent rules', detail?.agent_query_rules.join(' ') || null],
        ['Priority', job.kind === 'command' ? detail?.priority.number : null],
        ['Step key', detail?.step_key],
        ['Retried by', detail?.retried_by?.name],
        ['Unblocked by', detail?.unblocked_by?.name],
        [
          'Command',
          detail?.command === undefined || detail.command === null ? null : (
            <code key="command">{detail.command}</code>
          ),
        ],
      ]}
    />
  </div>
)

const timeOf = (ms: number | null) =>
  ms === null ? null : (
    <>
      {new Date(ms).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })}{' '}
      <span className="muted">
        (<Time at={ms} />)
      </span>
    </>
  )
const span = (from: number | null, to: number | null) =>
  from === null ? null : <Duration from={from} to={to} />

const agentOf = ({ name, web_url: url }: { name: string; web_url: string }) => (
  <Link to={new URL(url).pathname}>{name}</Link>
)

function Queue({ detail, org }: { detail: Schemas['Job'] | undefined; org: string }) {
  const cluster = detail?.cluster_id ?? ''
  const queue = detail?.cluster_queue_id ?? ''
  const { data } = useQuery({ ...queueQuery({ org, cluster, queue }), enabled: queue !== '' })
  if (queue === '') return 'None'
  return (
    <Link to="/organizations/$org/clusters/$cluster/queues/$queue" params={{ org, cluster, queue }}>
      {data?.key ?? 'Queue'}
    </Link>
  )
}
