import type { StepDefinition } from '../steps/types.ts'
import type { ParallelPosition } from '../work.ts'
import { PARALLEL_TOKEN } from './tokens.ts'

/** Fills `%n` (from 0), `%N` (from 1) and `%t` or `%T` (how many) in the label of a parallel job. */
export function fillLabel(label: string | null, position: ParallelPosition | null): string | null {
  if (label === null || position === null) return label
  return label.replace(PARALLEL_TOKEN, (token) => {
    if (token === '%n') return String(position.index)
    return String(token === '%N' ? position.index + 1 : position.total)
  })
}

/** Whether the jobs of the step fill tokens in its label. */
export const hasTokens = (step: StepDefinition): boolean =>
  (step.kind === 'command' && (step.parallelism !== null || step.matrix !== null)) ||
  (step.kind === 'trigger' && step.parallelism !== null)
