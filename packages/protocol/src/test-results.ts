// A file of test results that a job's agent sends. Public agents do not know this.
import { Type, type Static } from 'typebox'

const QuarantinedFailure = Type.Object({
  scope: Type.String(),
  name: Type.String(),
  state: Type.Union([Type.Literal('muted'), Type.Literal('skipped')]),
  reason: Type.Union([Type.String(), Type.Null()]),
  /** The name of the person who repairs it. */
  owner: Type.Union([Type.String(), Type.Null()]),
  expires_at: Type.Union([Type.String(), Type.Null()]),
})
export type QuarantinedFailure = Static<typeof QuarantinedFailure>

export const TestResultsResponse = Type.Object({
  run_id: Type.String(),
  /** Results that were read. */
  queued: Type.Integer(),
  /** Those of them that failed. */
  failed: Type.Integer(),
  /** Results without a name, and suites that count more failures than they have. */
  skipped: Type.Integer(),
  /** Those of `failed` that do not count, because their tests are muted or skipped. Older servers do not say. */
  quarantined: Type.Optional(Type.Array(QuarantinedFailure)),
})
export type TestResultsResponse = Static<typeof TestResultsResponse>
