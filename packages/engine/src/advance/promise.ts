import { isSoft } from '../outcome.ts'
import { loadJob } from './ask.ts'
import type { Draft } from './draft.ts'
import type { EventOf } from './events.ts'
import type { Asking } from './needs.ts'
import { refuse } from './refusal.ts'
import type { Refusal } from './refusal.ts'
import { findRule } from './retry.ts'

/** A running job says how it will fail. It keeps running; if nothing would soften or retry that, the build fails. */
export function* promise(draft: Draft, event: EventOf<'promise'>): Asking<Refusal | null> {
  const { exitStatus } = event
  const job = yield* loadJob(draft, event.jobId)
  if (job === null) return refuse('not_found', 'No job found')
  if (exitStatus === 0) return refuse('invalid_exit_status', 'Only a failure can be promised')
  if (job.kind !== 'script' || job.state !== 'running') {
    return refuse('wrong_state', 'Only a running command job can promise an exit status')
  }
  if (job.promisedExitStatus !== null) {
    return refuse('already_promised', 'The job has already promised an exit status')
  }
  const rule = findRule(job, { exitStatus, signal: null, signalReason: null })
  const promisedHard = rule === null && !isSoft(job.policy.softFail, exitStatus)
  draft.moveJob(job.id, { promisedExitStatus: exitStatus, promisedAt: draft.at, promisedHard })
  return null
}
