// Decides whether a test is flaky, from its executions alone. A test that fails each time on the default branch is broken, not flaky.
export interface FlakyRules {
  onSameCommit: boolean
  /** So many changes between passed and failed on the default branch. Null: they are no evidence. */
  transitions: number | null
  /** The newest runs of the default branch in which changes are counted. */
  window: number
  clearDays: number
  clearExecutions: number
}

/** One that passed or failed, in a run that counts. */
export interface Execution {
  runId: string
  commit: string | null
  /** Executions of different variants, such as other operating systems, say nothing about each other. */
  variant: string | null
  isOnDefaultBranch: boolean
  hasFailed: boolean
  at: string
}

/** When most tests of a run fail, the cause is not in the tests. Of a few results that cannot be told. */
export const countingRuns = { fewestResults: 10, mostFailures: 0.8 } as const

/** When the last evidence that still holds came in. Null: the test is not flaky. */
export function findEvidence(executions: readonly Execution[], rules: FlakyRules, now: Date): string | null {
  if (isBroken(executions)) return null
  const times = [
    ...(rules.onSameCommit ? contradictions(executions) : []),
    ...(rules.transitions === null ? [] : lastTransition(executions, rules.transitions, rules.window)),
  ]
  const last = times.toSorted().at(-1)
  if (last === undefined) return null
  const ageMs = now.getTime() - new Date(last).getTime()
  if (ageMs >= rules.clearDays * 24 * 60 * 60 * 1000) return null
  return executions.filter(({ at }) => at > last).length >= rules.clearExecutions ? null : last
}

function isBroken(executions: readonly Execution[]): boolean {
  const onDefault = executions.filter((one) => one.isOnDefaultBranch)
  return onDefault.length > 0 && onDefault.every((one) => one.hasFailed)
}

/** For each commit that the test both failed and passed on: when the second of the two was seen first. */
function contradictions(executions: readonly Execution[]): string[] {
  const known = executions.filter(({ commit }) => commit !== null)
  return groupBy(known, ({ commit, variant }) => `${variant} ${commit}`).flatMap((group) => {
    const failed = earliest(group.filter((one) => one.hasFailed))
    const passed = earliest(group.filter((one) => !one.hasFailed))
    if (failed === undefined || passed === undefined) return []
    return [failed > passed ? failed : passed]
  })
}

const earliest = (executions: readonly Execution[]): string | undefined =>
  executions
    .map(({ at }) => at)
    .toSorted()
    .at(0)

/** When the result changed last, if it changed that often. A run in which the test failed once has failed. */
function lastTransition(executions: readonly Execution[], fewest: number, window: number): string[] {
  const onDefault = executions.filter((one) => one.isOnDefaultBranch)
  const runs = groupBy(onDefault, ({ runId }) => runId)
    .map((group) => ({ at: earliest(group) ?? '', hasFailed: group.some((one) => one.hasFailed) }))
    .toSorted((a, b) => (a.at < b.at ? -1 : 1))
    .slice(-window)
  const changes = runs.filter((run, index) => index > 0 && runs[index - 1]?.hasFailed !== run.hasFailed)
  const last = changes.at(-1)
  return changes.length >= fewest && last !== undefined ? [last.at] : []
}

function groupBy(executions: readonly Execution[], keyOf: (one: Execution) => string): Execution[][] {
  const groups = new Map<string, Execution[]>()
  for (const one of executions) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one])
  return [...groups.values()]
}
