// The answers to the engine's refusals.
import type { Refusal } from '@millrace/engine/advance/refusal.ts'
import { badRequest, notFound, refused, type ApiError } from '../../../lib/errors.ts'

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
