import { createProblem } from '../problem.ts'
import type { Problem } from '../problem.ts'
import type { Position } from '../source.ts'

/** Collects the problems of a document. Readers continue after a problem, so that all are found at once. */
export interface Report {
  problem(at: Position, message: string, hint?: Hint | (() => Hint)): void
  /** Worth saying, but no reason to refuse the document. */
  warning(at: Position, message: string, hint?: Hint | (() => Hint)): void
  /** The same report, for the inside of the named step. */
  inside(step: string): Report
}

interface Hint {
  expected?: string
  suggestion?: string | null
}

interface Findings {
  problems: Problem[]
  warnings: Problem[]
}

const MAX_FINDINGS = 25

export function createReport(): { report: Report; findings: Findings } {
  const findings: Findings = { problems: [], warnings: [] }
  return { report: reportFor(null, findings), findings }
}

function reportFor(step: string | null, findings: Findings): Report {
  return {
    problem: (at, message, hint) => add(findings.problems, step, at, message, hint),
    warning: (at, message, hint) => add(findings.warnings, step, at, message, hint),
    inside: (name) => reportFor(name, findings),
  }
}

/** A hint that costs work to find is asked for only while there is room for it. */
function add(
  list: Problem[],
  step: string | null,
  at: Position,
  message: string,
  hint: Hint | (() => Hint) = {},
): void {
  if (list.length >= MAX_FINDINGS) return
  const { expected, suggestion } = typeof hint === 'function' ? hint() : hint
  list.push({
    ...createProblem(message, at, step),
    ...(expected !== undefined && { expected }),
    ...(suggestion && { suggestion }),
  })
}
