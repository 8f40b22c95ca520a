import type { JobRow } from '../rows.ts'
import type { Draft } from './draft.ts'

/** Moves a job on whose dependencies are met. */
export function makeReady(draft: Draft, job: JobRow): void {
  switch (job.kind) {
    case 'waiter':
      draft.moveJob(job.id, { state: 'passed' })
      break
    case 'manual':
      draft.moveJob(job.id, { state: 'blocked', unblockable: true })
      break
    case 'script':
      if (job.concurrencyGroup === null) scheduleJob(draft, job)
      else draft.moveJob(job.id, { state: 'limiting' })
      break
    case 'trigger':
      draft.moveJob(job.id, { state: 'running', runnableAt: draft.at, startedAt: draft.at })
      draft.effects.push({ kind: 'create_child_build', jobId: job.id })
      noteStart(draft)
      break
  }
}

export function scheduleJob(draft: Draft, job: JobRow): void {
  draft.moveJob(job.id, { state: 'scheduled', runnableAt: draft.at })
}

export function noteStart(draft: Draft): void {
  const { build } = draft
  draft.build = { ...build, everStarted: true, startedAt: build.startedAt ?? draft.at }
}
