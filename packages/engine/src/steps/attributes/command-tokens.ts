import type { Position } from '../../source.ts'
import type { Report } from '../report.ts'
import type { CommandStep, Matrix } from '../types.ts'

const TOKEN = /\{\{\s*matrix(?:\.([A-Za-z0-9_]+))?\s*\}\}/g

export const hasMatrixToken = (text: string): boolean => text.search(TOKEN) !== -1

/** Tokens that name no dimension stay. */
export const fillMatrixTokens = (
  text: string,
  dimensions: Matrix['dimensions'],
  values: readonly string[],
): string =>
  text.replace(TOKEN, (token: string, name: string | undefined) => {
    const index = dimensions.findIndex((dimension) => dimension.name === (name ?? null))
    return values[index] ?? token
  })

/** Reports tokens that name no dimension, in the attributes where tokens are filled in. */
export function checkMatrixTokens(step: CommandStep, matrix: Matrix, at: Position, report: Report): void {
  const known = new Set(matrix.dimensions.map(({ name }) => name))
  const used = new Set(
    listTexts(step).flatMap((text) => Array.from(text.matchAll(TOKEN), (found) => found[1] ?? null)),
  )
  for (const name of used) {
    if (known.has(name)) continue
    const dimensions = [...known].map(spell)
    report.problem(at, `${spell(name)} names no dimension of the matrix`, {
      expected: `one of ${dimensions.join(', ')}`,
    })
  }
}

function listTexts(step: CommandStep): string[] {
  const texts = [
    step.command,
    step.key,
    ...(step.dependsOn ?? []).map(({ ref }) => ref),
    step.label,
    step.artifactPaths,
    ...step.agents,
    ...(step.testResults ?? []),
    ...Object.values(step.env),
    JSON.stringify(step.plugins),
  ]
  return texts.filter((text) => text !== null)
}

function spell(name: string | null): string {
  return name === null ? '`{{matrix}}`' : `\`{{matrix.${name}}}\``
}
