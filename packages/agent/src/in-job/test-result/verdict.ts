// How a run of tests ends. Only a run whose failures are all known to be in quarantine passes; whatever is not known fails.

import type { QuarantinedFailure } from '@millrace/protocol/test-results.ts'
import type { Ended } from './run-command.ts'

/** What was found out about one file. */
export type Sent =
  | { path: string; failed: number; nameless: number; quarantined: QuarantinedFailure[] }
  | { path: string; problem: string }

export interface Verdict {
  status: number
  /** Failures that do not count. */
  quarantined: QuarantinedFailure[]
  /** Failures that count. */
  failed: number
  /** Why the run fails; null: it passes. */
  reason: string | null
}

export function judge(
  { status, signal }: Ended,
  sent: readonly Sent[],
  failureStatuses: readonly number[],
): Verdict {
  const read = sent.flatMap((file) => ('problem' in file ? [] : [file]))
  const quarantined = read.flatMap((file) => file.quarantined)
  const all = read.reduce((sum, file) => sum + file.failed, 0)
  const failed = all - quarantined.length
  const reason = status === 0 ? null : (crash() ?? gap())
  return { status: reason === null ? 0 : status, quarantined, failed, reason }

  function crash(): string | null {
    if (signal !== null) return `The command was ended by ${signal}.`
    if (failureStatuses.includes(status)) return null
    return `The command exited with ${status}. Failed tests end it with ${failureStatuses.join(' or ')}, so something else is wrong.`
  }

  function gap(): string | null {
    for (const file of sent) if ('problem' in file) return `${file.path} was not sent: ${file.problem}`
    if (sent.length === 0) return 'The command wrote no results.'
    const incomplete = read.find(({ nameless }) => nameless > 0)
    if (incomplete !== undefined)
      return `${incomplete.path} has results without a name, or counts more failures than it has.`
    if (all === 0) return 'The command failed, but no test did.'
    return failed > 0 ? `${failed} failed ${failed === 1 ? 'test counts' : 'tests count'}.` : null
  }
}
