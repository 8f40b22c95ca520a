// A step with a matrix is one step with many jobs, unless the values are in its key or in what it depends on. Then each
// combination is a step, so that others can name it.

import type { Position } from '../../source.ts'
import type { Report } from '../report.ts'
import type { CommandStep, Matrix } from '../types.ts'
import { combinationsOf } from './combinations.ts'
import type { Combination } from './combinations.ts'
import { fillMatrixTokens, hasMatrixToken } from './command-tokens.ts'
import { expectedInsteadOf } from './key.ts'

export function splitByKey(step: CommandStep, matrix: Matrix, at: Position, report: Report): CommandStep[] {
  const inKey = step.key !== null && hasMatrixToken(step.key)
  const inDependencies = (step.dependsOn ?? []).some(({ ref }) => hasMatrixToken(ref))
  if (!inKey && !inDependencies) return [step]
  if (!inKey && step.key !== null) {
    report.problem(at, '`depends_on` has values of the matrix, but `key` has none', {
      expected: 'a key with the same values, or no key',
    })
    return [step]
  }
  const steps = combinationsOf(matrix).map((combination) => stepOf(step, matrix, combination))
  return steps.every((one, index) => checkKey(one, steps.slice(0, index), at, report)) ? steps : [step]
}

function stepOf(step: CommandStep, { dimensions }: Matrix, combination: Combination): CommandStep {
  const { values, skip, softFail } = combination
  const fill = (text: string) => fillMatrixTokens(text, dimensions, values)
  return {
    ...step,
    key: step.key === null ? null : fill(step.key),
    dependsOn: step.dependsOn?.map((dependency) => ({ ...dependency, ref: fill(dependency.ref) })) ?? null,
    matrix: {
      dimensions: dimensions.map(({ name }, index) => ({ name, values: values.slice(index, index + 1) })),
      adjustments: skip === false && softFail === null ? [] : [{ with: values, skip, softFail }],
    },
  }
}

function checkKey(
  { key }: CommandStep,
  before: readonly CommandStep[],
  at: Position,
  report: Report,
): boolean {
  // A token that is still there names no dimension, which is reported already.
  if (key === null || hasMatrixToken(key)) return true
  const expected = expectedInsteadOf(key)
  if (expected !== null) {
    report.problem(at, `\`key\` cannot be "${key}", as the matrix makes it`, { expected })
    return false
  }
  if (before.every((other) => other.key !== key)) return true
  report.problem(at, `two jobs of the matrix have the key "${key}"`, {
    expected: 'a key with a value of each dimension',
  })
  return false
}
