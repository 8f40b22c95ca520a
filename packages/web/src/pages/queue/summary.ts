// What the page of a queue says of now. Its lists are newer than the figures of the server, or as new, so they count where they
// are whole.
import { formatDuration } from '../../parts/time/durations.ts'
import type { Metrics, WaitingJob } from './queries.ts'

type Figures = Pick<Metrics, 'waiting' | 'busy' | 'connected' | 'wait_p50_seconds' | 'wait_p95_seconds'>

/** A list as it was last fetched. */
interface Listed<Row> {
  rows: readonly Row[]
  hasMore: boolean
  atMs: number
}

interface Lists {
  waiting: Listed<Pick<WaitingJob, 'position'>> | undefined
  agents: readonly ListedAgent[] | undefined
  hasMoreAgents: boolean
  metricsAtMs: number
}

interface ListedAgent {
  connection_state: string
  job: unknown
}

export function summaryOf(metrics: Figures, lists: Lists): string {
  const { wait_p50_seconds: p50, wait_p95_seconds: p95 } = metrics
  const wait =
    p50 === null || p95 === null ? '' : ` · wait p50 ${formatDuration(p50)}, p95 ${formatDuration(p95)}`
  const { busy, connected } = countAgents(metrics, lists)
  return `${countWaiting(metrics, lists)} waiting · ${busy} of ${connected} busy${wait}`
}

/** Jobs of pipelines that the person may not see are not listed, but counted by the server. */
function countWaiting({ waiting: counted }: Figures, { waiting, metricsAtMs }: Lists): number {
  if (waiting === undefined || waiting.hasMore) return counted
  const { rows, atMs } = waiting
  const hasGaps = rows.some(({ position }, index) => position !== index + 1)
  const mayHideSome = counted > rows.length && metricsAtMs >= atMs
  return hasGaps || mayHideSome ? counted : rows.length
}

function countAgents({ busy, connected }: Figures, { agents, hasMoreAgents }: Lists) {
  if (agents === undefined || hasMoreAgents) return { busy, connected }
  const here = agents.filter(({ connection_state: state }) => state === 'connected' || state === 'stopping')
  return { busy: here.filter(({ job }) => job !== null).length, connected: here.length }
}
