import { checkAnswers } from '../manual-fields.ts'
import { loadJob } from './ask.ts'
import type { Draft } from './draft.ts'
import type { EventOf } from './events.ts'
import type { Asking } from './needs.ts'
import { refuse } from './refusal.ts'
import type { Refusal } from './refusal.ts'

export function* unblock(draft: Draft, event: EventOf<'unblock'>): Asking<Refusal | null> {
  const job = yield* loadJob(draft, event.jobId)
  if (job === null) return refuse('not_found', 'No job found')
  if (job.kind !== 'manual') return refuse('wrong_kind', 'Only a block or input job can be unblocked')
  if (draft.build.cancelRequested || draft.build.state === 'skipped') {
    return refuse('build_canceled', 'The build has been canceled')
  }
  // `bk job unblock` takes this very sentence as a success.
  if (job.state !== 'blocked') return refuse('job_finished', "The job's state must be blocked")
  if (!job.unblockable) {
    return refuse('dependencies_unmet', 'The steps in front of this one have not finished')
  }
  const checked = checkAnswers(job.policy.fields, event.answers)
  if (!checked.ok) {
    const problems = checked.problems.map(({ key, message }) => `${key} ${message}`)
    return refuse('invalid_fields', problems.join('; '))
  }
  draft.moveJob(job.id, {
    state: 'unblocked',
    unblockable: false,
    unblockedBy: event.by,
    unblockedAt: draft.at,
  })
  if (Object.keys(checked.values).length > 0) {
    draft.effects.push({ kind: 'set_meta_data', values: checked.values })
  }
  return null
}
