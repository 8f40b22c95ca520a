import { countCombinations } from './attributes/matrix.ts'
import type { LeafStep, StepDefinition } from './types.ts'

/** A build holds at most 4000 jobs. */
export const PARALLELISM = { min: 1, max: 4000 }

/** How many jobs the steps become when none is left out. */
export function countJobs(steps: readonly StepDefinition[]): number {
  return steps.reduce(
    (count, step) => count + (step.kind === 'group' ? countJobs(step.steps) : jobsOf(step)),
    0,
  )
}

function jobsOf(step: LeafStep): number {
  if (step.kind === 'command' && step.matrix) return countCombinations(step.matrix)
  return step.kind === 'command' || step.kind === 'trigger' ? (step.parallelism ?? 1) : 1
}
