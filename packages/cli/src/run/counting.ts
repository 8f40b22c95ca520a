import type { StepDefinition } from '@millrace/engine/steps/types.ts'

/** Counts the steps in a group, not the group. */
export function countSteps(steps: readonly StepDefinition[]): number {
  return steps.reduce((sum, step) => sum + (step.kind === 'group' ? step.steps.length : 1), 0)
}

/** `1 step`, `2 steps`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
