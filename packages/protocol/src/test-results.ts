// A file of test results that a job's agent sends. Public agents do not know this.
import { Type, type Static } from 'typebox'

export const TestResultsResponse = Type.Object({
  run_id: Type.String(),
  /** Results that were read. */
  queued: Type.Integer(),
  /** Those of them that failed. */
  failed: Type.Integer(),
  /** Results without a name. */
  skipped: Type.Integer(),
})
export type TestResultsResponse = Static<typeof TestResultsResponse>
