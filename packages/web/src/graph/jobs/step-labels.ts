// The words that assistive technology reads of a step in the graph: "Test, 20 jobs: 3 failed; after Build".
import { describeCounts } from './buckets.ts'
import type { JobTable } from './job-table.ts'
import { KIND_NAMES } from './job.ts'
import { titleOf } from '../../parts/state-badge/states.ts'

const mostNamed = 3

/** The names of the steps that it waits for. */
export function describePredecessors(table: JobTable, stepId: string): string {
  const names = table.predecessorsOf(stepId).map((id) => {
    const step = table.step(id)
    return step?.kind === 'wait' && step.label === null ? 'the wait' : table.stepName(id)
  })
  const more = names.length - mostNamed
  return more > 0 ? `${names.slice(0, mostNamed).join(', ')} and ${more} more` : names.join(', ')
}

export function describeStep(table: JobTable, stepId: string): string {
  const { look, total, counts } = table.summaryOf(stepId)
  const kind = table.step(stepId)?.kind ?? 'command'
  const name = table.stepName(stepId)
  const title = kind === 'command' || name === KIND_NAMES[kind] ? name : `${KIND_NAMES[kind]} ${name}`
  const state =
    total > 1 ? `, ${total} jobs: ${describeCounts(counts)}` : look === null ? '' : `: ${titleOf(look)}`
  const after = describePredecessors(table, stepId)
  return `${title}${state}${after === '' ? '' : `; after ${after}`}`
}

/** The words of a node beyond those that it shows. */
export function describeRest(table: JobTable, stepId: string): string {
  const { total, counts } = table.summaryOf(stepId)
  const after = describePredecessors(table, stepId)
  return [
    ...(total > 1 ? [`: ${describeCounts(counts)}`] : []),
    ...(after === '' ? [] : [`; after ${after}`]),
  ].join('')
}
