// Who may unblock a job, and the answers to the engine's refusals.
import type { Refusal } from '@millrace/engine/advance/refusal.ts'
import { suffices } from '../../../auth/permissions.ts'
import { badRequest, notFound, refused, type ApiError } from '../../../lib/errors.ts'
import type { JobAddress } from '../../addresses/jobs.ts'
import type { AllowedTeams } from './queries.ts'

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

/** For callers who may read the pipeline. Where the step names teams, nothing else counts. */
export const mayUnblock = (
  { access }: Pick<JobAddress, 'access'>,
  teams: Pick<AllowedTeams, 'is_limited' | 'is_member'>,
): boolean => (teams.is_limited ? teams.is_member : suffices('build_pipeline', access))

export function unblockRefused({ reason, message }: Refusal): ApiError {
  if (reason === 'not_found') return notFound(message)
  if (reason === 'wrong_kind') return badRequest('This job type cannot be unblocked')
  return refused(reason === 'build_canceled' ? 'Jobs from canceled builds cannot be unblocked' : message)
}
