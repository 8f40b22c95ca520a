// Counts the changes of a build for the metrics, after their commit.
import type { Effect } from '@millrace/engine/advance/effects.ts'
import type { JobRow } from '@millrace/engine/rows.ts'
import { isFinal, isFinalBuild } from '@millrace/engine/states.ts'
import type { Context } from '../context.ts'
import type { HeldJob } from './load.ts'

interface Counted {
  at: string
  /** The jobs that existed before the event. */
  jobsBefore: ReadonlyMap<string, Pick<JobRow, 'kind'>>
  /** The job that the event is about, as it was before. */
  job: HeldJob | undefined
}

export function countChanges(
  ctx: Context,
  effects: readonly Effect[],
  { at, jobsBefore, job }: Counted,
): void {
  for (const effect of effects) {
    if (effect.kind === 'build_state_changed' && isFinalBuild(effect.to)) {
      ctx.metrics.buildsFinished.inc({ state: effect.to })
    }
    if (effect.kind !== 'job_state_changed' || jobsBefore.get(effect.jobId)?.kind !== 'script') continue
    const { jobId, from, to } = effect
    if (isFinal(to)) ctx.metrics.jobsFinished.inc({ state: to })
    const isStart = to === 'running' && (from === 'accepted' || from === 'assigned')
    if (isStart && job?.id === jobId) observeWait(ctx, job, at)
  }
}

function observeWait(ctx: Context, { queueId, runnableAt }: HeldJob, startedAt: string): void {
  if (queueId === null || runnableAt === null) return
  const seconds = Math.max(0, (Date.parse(startedAt) - Date.parse(runnableAt)) / 1000)
  void ctx.queueLabels.of(queueId).then((labels) => ctx.metrics.jobWaits.observe(labels, seconds))
}
