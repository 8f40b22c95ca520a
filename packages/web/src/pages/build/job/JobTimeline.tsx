import type { Schemas } from '../../../api/operations.ts'
import type { Job } from '../../../graph/jobs/job.ts'
import { Duration, Time } from '../../../parts/time/Time.tsx'
import { Facts } from '../../../parts/Facts.tsx'
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
        ['Queue', queueOf(detail, org)],
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

const timeOf = (ms: number | null) => (ms === null ? null : <Time at={ms} />)
const span = (from: number | null, to: number | null) =>
  from === null ? null : <Duration from={from} to={to} />

const agentOf = ({ name, web_url: url }: { name: string; web_url: string }) => (
  <a href={new URL(url).pathname}>{name}</a>
)

function queueOf(detail: Schemas['Job'] | undefined, org: string) {
  if (!detail?.cluster_id || !detail.cluster_queue_id) return null
  const { cluster_id: cluster, cluster_queue_id: queue } = detail
  return <a href={`/organizations/${org}/clusters/${cluster}/queues/${queue}`}>{queue}</a>
}
