import { showLabel } from '../../parts/labels.ts'
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useLive } from '../../api/live.ts'
import { clusterQuery, queueQuery, type QueueAddress } from '../../api/resource-queries.ts'
import { Button, LinkButton } from '../../parts/Button.tsx'
import { formatDuration } from '../../parts/time/durations.ts'
import { Page } from '../../parts/Page.tsx'
import { PauseDialog } from '../../parts/dialogs/PauseDialog.tsx'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { Empty, isGone, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { showFailure, showToast } from '../../parts/toasts/toasts.ts'
import { AgentTable } from '../agents/AgentTable.tsx'
import { useAgents } from '../agents/use-agents.ts'
import { StartAgentDialog } from '../cluster/StartAgentDialog.tsx'
import { QueueChart } from './QueueChart.tsx'
import { QueueMenu } from './QueueMenu.tsx'
import { metricsQuery, pauseDispatch, resumeDispatch, waitingQuery, type Metrics } from './queries.ts'
import { summaryOf } from './summary.ts'
import { WaitingJobs } from './WaitingJobs.tsx'
import styles from './Queue.module.css'

/** The chart has its place before there is anything to draw, so that nothing moves when it comes. */
const noPoints: Metrics['points'] = []

export function QueuePage() {
  const address = useParams({ from: '/organizations/$org/clusters/$cluster/queues/$queue' })
  const { org, cluster: clusterId } = address
  useLive(org)
  const queueState = useQuery(queueQuery(address))
  const queue = queueState.data
  const { data: cluster } = useQuery(clusterQuery(org, clusterId))
  const { data: metrics, dataUpdatedAt: metricsAtMs } = useQuery(metricsQuery(address))
  const waiting = useInfiniteQuery(waitingQuery(address))
  const { agents, list } = useAgents(org, { queueId: address.queue })
  const [open, setOpen] = useState<'pause' | 'start' | null>(null)
  const change = usePause(address)
  if (queue === undefined || isGone(queueState.error)) return <NotLoaded query={queueState} />
  const isPaused = queue.dispatch_paused
  const waitingJobs = waiting.data?.pages.flatMap(({ rows }) => rows)
  const summary =
    metrics &&
    summaryOf(metrics, {
      waiting: waitingJobs && {
        rows: waitingJobs,
        hasMore: waiting.hasNextPage,
        atMs: waiting.dataUpdatedAt,
      },
      agents,
      hasMoreAgents: list.hasNextPage,
      metricsAtMs,
    })
  return (
    <Page
      title={queue.key}
      before={<StateBadge kind="queue" state={isPaused ? 'paused' : 'active'} />}
      subtitle={[queue.description, summary ?? '…'].filter(Boolean).join(' · ')}
      actions={
        <>
          <LinkButton
            icon="chart-gantt"
            to="/organizations/$org/insights"
            params={{ org }}
            search={{ group: 'pipeline', queue: address.queue }}
          >
            Insight
          </LinkButton>
          {cluster?.viewer?.may.manage === true && (
            <>
              {isPaused ? (
                <Button isWrite icon="play" onClick={() => void change(false, '')}>
                  Resume dispatch
                </Button>
              ) : (
                <Button isWrite icon="pause" onClick={() => setOpen('pause')}>
                  Pause dispatch…
                </Button>
              )}
              <div className={styles.together}>
                <Button isWrite kind="primary" icon="plus" onClick={() => setOpen('start')}>
                  Start an agent
                </Button>
                <QueueMenu
                  address={address}
                  queue={queue}
                  isDefault={cluster.default_queue_id === queue.id}
                />
              </div>
            </>
          )}
        </>
      }
    >
      {isPaused && (
        <p role="status">
          Dispatch is paused{queue.dispatch_paused_by === null ? '' : ` by ${queue.dispatch_paused_by.name}`}
          {queue.dispatch_paused_note ? `: “${showLabel(queue.dispatch_paused_note)}”` : ''}. Jobs wait here
          until it is resumed.
        </p>
      )}
      <QueueChart points={metrics?.points ?? noPoints} />
      <h2>Waiting jobs</h2>
      {waitingJobs === undefined ? (
        <NotLoaded query={waiting} rows={3} />
      ) : (
        <WaitingJobs org={org} jobs={waitingJobs} />
      )}
      <ShowMore list={waiting} />
      {metrics !== undefined && metrics.estimates.jobs > 0 && <p>{errorsOf(metrics.estimates)}</p>}
      <h2>Agents</h2>
      {agents === undefined ? (
        <NotLoaded query={list} rows={3} />
      ) : agents.length === 0 ? (
        <Empty title="No agent of this queue is connected">Its jobs wait until one is.</Empty>
      ) : (
        <AgentTable agents={agents} withQueue={false} />
      )}
      <ShowMore list={list} />
      {open === 'pause' && (
        <PauseDialog
          title={`Pause dispatch of ${queue.key}?`}
          effect="Agents finish what they run, and get no further job of this queue until it is resumed."
          onPause={(note) => void change(true, note)}
          onClose={() => setOpen(null)}
        />
      )}
      {open === 'start' && cluster !== undefined && (
        <StartAgentDialog org={org} clusters={[cluster]} queueKey={queue.key} onClose={() => setOpen(null)} />
      )}
    </Page>
  )
}

/** "Estimates of the last 7 days: half were within 20 s, 90 % within 2m 00s." */
function errorsOf({ p50_seconds: half, p90_seconds: most }: Metrics['estimates']): string {
  const within = (seconds: number | null) => formatDuration(Math.ceil(seconds ?? 0))
  return `Estimates of the last 7 days: half were within ${within(half)}, 90 % within ${within(most)}.`
}

/** Shown at once, taken back if it is refused, and offered to be undone. */
function usePause(address: QueueAddress) {
  const queryClient = useQueryClient()
  const { queryKey } = queueQuery(address)
  const show = (isPaused: boolean, note: string) =>
    queryClient.setQueryData(
      queryKey,
      (before) => before && { ...before, dispatch_paused: isPaused, dispatch_paused_note: note || null },
    )
  return async function change(isPaused: boolean, note: string): Promise<void> {
    show(isPaused, note)
    try {
      await (isPaused ? pauseDispatch(address, note) : resumeDispatch(address))
      const undo = () => void change(!isPaused, note)
      showToast(isPaused ? 'Dispatch is paused.' : 'Dispatch goes on.', { undo })
    } catch (error) {
      show(!isPaused, '')
      showFailure(error)
    }
    await queryClient.invalidateQueries({ queryKey })
  }
}
