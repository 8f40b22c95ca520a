import type { Problem } from '../problem.ts'

const MAX_LINE = 160

/**
 * A problem as a terminal shows it:
 *
 *     pipeline.yml:3:5: `comand` is not an attribute of a command step
 *       in step 1 ("test")
 *       3 |     comand: make
 *         |     ^
 *       did you mean `command`?
 */
export function formatProblem(fileName: string, text: string, problem: Problem): string {
  const { line, column, message, step, expected, suggestion } = problem
  const position = line > 0 ? `${fileName}:${line}:${column}` : fileName
  return [
    `${position}: ${message}`,
    ...(step === null ? [] : [`  in ${step}`]),
    ...excerpt(text, line, column),
    ...advice(expected, suggestion),
  ].join('\n')
}

/** A likely name says more than the list of all names. */
function advice(expected: string | undefined, suggestion: string | undefined): string[] {
  if (suggestion !== undefined) return [`  did you mean \`${suggestion}\`?`]
  return expected === undefined ? [] : [`  expected ${expected}`]
}

function excerpt(text: string, line: number, column: number): string[] {
  const source = text.split(/\r\n|\n|\r/)[line - 1]
  if (source === undefined) return []
  const start = Math.max(0, column - 1 - MAX_LINE / 2)
  const shown = source.slice(start, start + MAX_LINE)
  // Tabs stay tabs above the caret, so that it stands under its character at any tab width.
  const indent = shown.slice(0, column - 1 - start).replaceAll(/[^\t]/g, ' ')
  const number = String(line)
  return [`  ${number} | ${shown}`, `  ${' '.repeat(number.length)} | ${indent}^`]
}
