// Reports the changes of a build as lines of text and as JSON.
import { oneLine } from '../text.ts'
import { describeDuration } from '../times.ts'
import { textOfRow } from '../log-rows.ts'
import type { Excerpt } from './excerpt.ts'
import { stageOf, type ShortBuild, type WatchedJob } from './graph.ts'
import type { Change, WatchedBuild } from './model.ts'

/** null: not worth a line. The text of a change never depends on when it is printed. */
export function describeChange(watched: WatchedBuild, change: Change): string | null {
  if (change.kind === 'build') return describeBuild(change.build)
  const { job, before } = change
  if (watched.stepOf(job)?.kind === 'wait') return null
  const text = describeJob(job, before)
  return text === null ? null : `${watched.nameOfJob(job)}: ${text}`
}

function describeBuild({ number, state, blocked }: ShortBuild): string {
  return `build #${number}: ${blocked ? `blocked (counts as ${state})` : words(state)}`
}

function describeJob(job: WatchedJob, before: WatchedJob | null): string | null {
  if (before !== null && before.state === job.state && job.retriedIn === before.retriedIn) {
    return stageOf(job) === 'blocked' ? 'blocked' : null
  }
  if (before !== null && before.state === job.state) return 'is tried again'
  const attempt = job.attempt > 0 ? `, attempt ${job.attempt + 1}` : ''
  const note = job.note === null ? '' : `, ${oneLine(job.note)}`
  switch (job.state) {
    case 'running':
      return `running${job.agent === null ? '' : ` on ${oneLine(job.agent)}`}${attempt}`
    case 'blocked':
      return stageOf(job) === 'blocked' ? 'blocked' : null
    case 'passed':
    case 'unblocked':
    case 'failed':
    case 'timed_out':
    case 'canceled':
    case 'expired':
      return `${words(job.state)}${note}${timeOf(job)}${job.isSoftFailed ? ', does not count' : ''}`
    case 'broken':
    case 'skipped':
      return `skipped${note}`
    case 'waiting_failed':
    case 'blocked_failed':
      return `not run${job.note === null ? ', something before it failed' : note}`
    default:
      return null
  }
}

function timeOf({ startedAt, finishedAt }: WatchedJob): string {
  return startedAt === null || finishedAt === null ? '' : ` after ${describeDuration(finishedAt - startedAt)}`
}

const words = (state: string) => state.replaceAll('_', ' ')

export function changeJson(watched: WatchedBuild, change: Change): object {
  if (change.kind === 'build') return { type: 'build', ...change.build }
  const { job } = change
  const step = watched.stepOf(job)
  return {
    type: 'job',
    id: job.id,
    name: watched.nameOfJob(job),
    step: { id: job.stepId, key: step?.key ?? null, kind: step?.kind ?? null },
    state: job.state,
    soft_failed: job.isSoftFailed,
    exit_status: job.exitStatus,
    reason: job.note,
    attempt: job.attempt + 1,
    retried_in_job_id: job.retriedIn,
    agent: job.agent,
    unblockable: job.isUnblockable,
    started_at: timestamp(job.startedAt),
    finished_at: timestamp(job.finishedAt),
  }
}

const timestamp = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())

export function excerptJson(watched: WatchedBuild, job: WatchedJob, excerpt: Excerpt): object {
  return {
    type: 'failure',
    job_id: job.id,
    name: watched.nameOfJob(job),
    group: excerpt.group,
    first_row: excerpt.from,
    failing_row: excerpt.failingRow,
    lines: excerpt.rows.map(textOfRow),
  }
}
