import { MATRIX_TOKEN } from '../labels/tokens.ts'
import type { Combination } from '../steps/attributes/combinations.ts'
import type { CommandStep, Matrix, Plugin } from '../steps/types.ts'
import type { ScriptWork } from '../work.ts'

type Filled = Pick<
  CommandStep,
  'command' | 'label' | 'env' | 'agents' | 'artifactPaths' | 'plugins' | 'testResults'
>

/** The job's `matrix` field: a map, or the bare value of the unnamed dimension. */
export function matrixOf(matrix: Matrix, combination: Combination): ScriptWork['matrix'] {
  const named: Record<string, string> = {}
  for (const [index, dimension] of matrix.dimensions.entries()) {
    const value = combination.values[index] ?? ''
    if (dimension.name === null) return value
    named[dimension.name] = value
  }
  return named
}

/** The step's words with every matrix token replaced, or the first token that names no dimension. */
export function fillMatrix(
  step: CommandStep,
  matrix: ScriptWork['matrix'],
): { ok: true; filled: Filled } | { ok: false; token: string } {
  const unknown: string[] = []
  const fill = (text: string): string =>
    text.replace(MATRIX_TOKEN, (token: string, dimension: string | undefined) => {
      const value = valueOf(matrix, dimension)
      if (value === null) unknown.push(token)
      return value ?? token
    })
  const filled: Filled = {
    command: step.command === null ? null : fill(step.command),
    label: step.label === null ? null : fill(step.label),
    env: Object.fromEntries(Object.entries(step.env).map(([name, value]) => [name, fill(value)])),
    agents: step.agents.map(fill),
    artifactPaths: step.artifactPaths === null ? null : fill(step.artifactPaths),
    plugins: step.plugins.map((plugin) => fillPlugin(plugin, fill)),
    ...(step.testResults === undefined ? {} : { testResults: step.testResults.map(fill) }),
  }
  const [token] = unknown
  return token === undefined ? { ok: true, filled } : { ok: false, token }
}

/** The value with the tokens in all of its texts replaced; a token that names no dimension stays. */
export function fillMatrixIn<T>(value: T, matrix: ScriptWork['matrix']): T {
  const fill = (text: string): string =>
    text.replace(MATRIX_TOKEN, (token: string, name: string | undefined) => valueOf(matrix, name) ?? token)
  return fillValue(value, fill) as T
}

function valueOf(matrix: ScriptWork['matrix'], dimension: string | undefined): string | null {
  if (typeof matrix === 'string') return dimension === undefined ? matrix : null
  if (matrix === null || dimension === undefined || !Object.hasOwn(matrix, dimension)) return null
  return matrix[dimension] ?? null
}

function fillPlugin(plugin: Plugin, fill: (text: string) => string): Plugin {
  return { source: fill(plugin.source), config: fillValue(plugin.config, fill) }
}

function fillValue(value: unknown, fill: (text: string) => string): unknown {
  if (typeof value === 'string') return fill(value)
  if (Array.isArray(value)) return value.map((item: unknown) => fillValue(item, fill))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fillValue(item, fill)]))
}
