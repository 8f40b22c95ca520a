import type { Execution } from './queries.ts'

interface FailureGroup {
  id: string
  reason: string | null
  count: number
  /** The newest. */
  last: Failed
}

type Failed = Pick<Execution, 'result' | 'failure_reason' | 'created_at' | 'build' | 'job_id'>

/** Failures that say the same but for their numbers are one group. The most frequent first. */
export function groupFailures(executions: readonly Failed[]): FailureGroup[] {
  const groups = new Map<string, FailureGroup>()
  for (const last of executions) {
    const { result, failure_reason: reason } = last
    if (result !== 'failed') continue
    const id = (reason ?? '').replaceAll(/\d+/g, '0')
    const group = groups.get(id)
    if (group === undefined) groups.set(id, { id, reason, count: 1, last })
    else group.count += 1
  }
  return [...groups.values()].toSorted((a, b) => b.count - a.count)
}
