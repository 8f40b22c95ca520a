export type RefusalReason =
  | 'not_found'
  | 'build_finished'
  | 'build_canceled'
  | 'job_finished'
  | 'wrong_kind'
  | 'wrong_state'
  | 'dependencies_unmet'
  | 'invalid_fields'
  | 'invalid_upload'
  | 'invalid_exit_status'
  | 'already_promised'
  | 'already_retried'
  | 'retry_not_allowed'
  | 'job_limit'

export interface Refusal {
  ok: false
  reason: RefusalReason
  /** A sentence for the person who asked. */
  message: string
}

export function refuse(reason: RefusalReason, message: string): Refusal {
  return { ok: false, reason, message }
}
