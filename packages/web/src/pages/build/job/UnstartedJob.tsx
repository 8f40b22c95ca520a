// Instead of a log: why the job waits, or why it never ran.
import { showLabel } from '../../../parts/labels.ts'
import { useQuery } from '@tanstack/react-query'
import type { JobAddress } from '../../../api/addresses.ts'
import type { Schemas } from '../../../api/operations.ts'
import type { Job } from '../../../graph/jobs/job.ts'
import { titleOf } from '../../../parts/state-badge/states.ts'
import { Icon } from '../../../parts/Icon.tsx'
import { StateBadge } from '../../../parts/state-badge/StateBadge.tsx'
import { NotLoaded } from '../../../parts/States.tsx'
import { Duration, Expected } from '../../../parts/time/Time.tsx'
import { Facts } from '../../../parts/Facts.tsx'
import { waitingQuery } from '../queries.ts'
import styles from '../Content.module.css'

export const hasNotStarted = (job: Job): boolean =>
  job.startedMs === null && (job.bucket === 'waiting' || job.bucket === 'blocked' || job.bucket === 'unrun')

export function UnstartedJob({ address, job }: { address: JobAddress; job: Job }) {
  return job.bucket === 'unrun' ? (
    <div className={styles.scroll}>
      <p className={styles.lead}>{titleOf(job.look)}</p>
      <p className={styles.note}>This job never ran, so it has no log.</p>
    </div>
  ) : (
    <WaitingJob address={address} job={job} />
  )
}

function WaitingJob({ address, job }: { address: JobAddress; job: Job }) {
  const query = useQuery(waitingQuery(address, job.state))
  if (query.data === undefined) return <NotLoaded query={query} rows={3} />
  const waiting = query.data
  return (
    <div className={styles.scroll} role="status">
      <div className={styles.stack}>
        <p className={styles.lead}>{showLabel(waiting.reason)}</p>
        <Facts facts={factsOf(waiting, job, address.org)} />
        <AwaitedList awaited={waiting.waiting_on} />
      </div>
    </div>
  )
}

type Waiting = Schemas['JobWaiting']

const factsOf = (waiting: Waiting, job: Job, org: string) =>
  [
    [
      'Waiting for',
      job.runnableMs === null ? null : <Duration key="since" from={job.runnableMs} to={null} />,
    ],
    ['Starts, probably', estimateOf(waiting)],
    ['Jobs ahead', waiting.jobs_ahead?.toLocaleString()],
    ['Agents that could run it', waiting.eligible_agents?.toLocaleString()],
    ['Queue', waiting.queue?.key],
    ['Paused', pauseOf(waiting.queue)],
    ['Concurrency', concurrencyOf(waiting.concurrency)],
    ['Agent rules', waiting.agent_query_rules.join(' ') || null],
    [
      'All agents',
      <a key="agents" href={`/organizations/${org}/agents`}>
        Agents of the organization
      </a>,
    ],
  ] as const

const estimateOf = ({ estimated_start_at: at, estimate_unknown: unknown }: Waiting) =>
  at === null ? unknown && `Not known: ${unknown.reason}` : <Expected key="start" at={at} />

function pauseOf(queue: Waiting['queue']): string | null {
  if (!queue?.dispatch_paused_at) return null
  const by = queue.dispatch_paused_by?.name
  const note = queue.dispatch_paused_note
  return [by === undefined ? 'Dispatch is paused' : `by ${by}`, note].filter(Boolean).join(': ')
}

const concurrencyOf = (concurrency: Waiting['concurrency']) =>
  concurrency === null
    ? null
    : `${concurrency.held} of ${concurrency.limit} places in “${concurrency.group}” are taken`

function AwaitedList({ awaited }: { awaited: Waiting['waiting_on'] }) {
  if (awaited.length === 0) return null
  return (
    <section>
      <h3>It waits for</h3>
      <ul className={styles.links}>
        {awaited.map(({ type, id, key, name, state, url }) => (
          <li key={`${type} ${id ?? key ?? ''}`} className={styles.link}>
            {state !== null && (
              <StateBadge kind={type === 'job' || type === 'block' ? 'job' : 'step'} state={state} />
            )}
            {url !== null && id !== null && type !== 'step' ? (
              <a href={`#${id}`}>{showLabel(name ?? key ?? id ?? '')}</a>
            ) : (
              <span>{showLabel(name ?? key ?? id ?? '')}</span>
            )}
            {type === 'block' && <Icon name="hand" size={14} />}
          </li>
        ))}
      </ul>
    </section>
  )
}
