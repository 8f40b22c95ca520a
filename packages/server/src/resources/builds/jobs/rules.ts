// The answers to the engine's refusals, and the sentences about a job that waits in its queue.
import type { Refusal } from '@millrace/engine/advance/refusal.ts'
import { badRequest, notFound, refused, type ApiError } from '../../../lib/errors.ts'
import type { WaitingCode, WaitingWire } from './schema.ts'

export const cancelRefused = ({ reason, message }: Refusal): ApiError =>
  reason === 'not_found' ? notFound(message) : refused(message)

/** `isAllowed`: the step lets people retry its jobs. */
export function retryRefused(
  { reason, message }: Refusal,
  { parentCanceled, isAllowed }: { parentCanceled: boolean; isAllowed: boolean },
): ApiError {
  if (reason === 'not_found') return notFound(message)
  if (reason === 'build_canceled') return refused(parentCanceled ? canceledParent : canceledBuild)
  const isOfWrongKind = reason === 'wrong_kind' || reason === 'wrong_state'
  return isOfWrongKind || (reason === 'retry_not_allowed' && isAllowed)
    ? badRequest('Only failed, timed out or canceled jobs can be retried')
    : refused(message)
}

const canceledBuild = 'Jobs from canceled builds cannot be retried'
const canceledParent =
  "This job can't be retried because this build was triggered by a synchronous trigger step in a canceled build"

export function unblockRefused({ reason, message }: Refusal): ApiError {
  if (reason === 'not_found') return notFound(message)
  if (reason === 'wrong_kind') return badRequest('This job type cannot be unblocked')
  return refused(reason === 'build_canceled' ? 'Jobs from canceled builds cannot be unblocked' : message)
}

interface Scheduled {
  queue: NonNullable<WaitingWire['queue']>
  rules: readonly string[]
  jobsAhead: number
  eligibleAgents: number
}

export function judgeScheduled({ queue, rules, jobsAhead, eligibleAgents }: Scheduled): {
  code: WaitingCode
  reason: string
} {
  if (queue.dispatch_paused_at !== null) {
    const by = queue.dispatch_paused_by === null ? '' : ` by ${queue.dispatch_paused_by.name}`
    const note = queue.dispatch_paused_note === null ? '' : `: ${queue.dispatch_paused_note}`
    return { code: 'queue_paused', reason: `The queue "${queue.key}" is paused${by}${note}.` }
  }
  if (eligibleAgents === 0) {
    const wanted = rules.filter((rule) => !rule.startsWith('queue='))
    const matching = wanted.length === 0 ? '' : ` that has ${listed(wanted)}`
    return { code: 'no_agent', reason: `The queue "${queue.key}" has no connected agent${matching}.` }
  }
  return jobsAhead === 0
    ? { code: 'agents_busy', reason: `The job is the next of the queue "${queue.key}"; its agents are busy.` }
    : { code: 'jobs_ahead', reason: `${comingFirst(jobsAhead)} in the queue "${queue.key}".` }
}

export const comingFirst = (jobs: number): string =>
  jobs === 1 ? '1 job comes first' : `${jobs} jobs come first`

const mostNamed = 5

/** `a`, `a and b`, `a, b and 7 others`. */
export function listed(names: readonly string[]): string {
  const named =
    names.length > mostNamed
      ? [...names.slice(0, mostNamed - 1), `${names.length - mostNamed + 1} others`]
      : names
  return named.length < 2 ? named.join('') : `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`
}
