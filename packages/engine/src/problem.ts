import type { Position } from './source.ts'

/** One mistake in a pipeline document, worded so that a person can fix it. */
export interface Problem {
  message: string
  /** From 1; 0 when the document did not come from text. */
  line: number
  column: number
  /** Such as `step 3 ("test")`; null when the problem lies outside the steps. */
  step: string | null
  /** The accepted values. */
  expected?: string
  /** The nearest correct name. */
  suggestion?: string
}

const MAX_MESSAGE = 400

/** Messages quote the document, which may be a megabyte. */
export function createProblem(message: string, at: Position, step: string | null): Problem {
  const text = message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message
  return { message: text, line: at.line, column: at.column, step }
}

/** The problem in one line, for where there is no room to show the text itself. */
export function describeProblem({ message, line, column, step, expected, suggestion }: Problem): string {
  const position = `line ${line}, column ${column}${step === null ? '' : `, ${step}`}`
  const wanted = expected === undefined ? '' : `; expected ${expected}`
  const advice = suggestion === undefined ? wanted : `; did you mean \`${suggestion}\`?`
  return `${position}: ${message}${advice}`
}
