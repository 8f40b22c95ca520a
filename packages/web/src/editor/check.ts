// Checks a pipeline's configuration with the server's own reader, and makes the graph of its steps.
import { describeProblem, type Problem } from '@millrace/engine/problem.ts'
import { DEFAULT_MAX_BYTES, readPipeline } from '@millrace/engine/steps/document.ts'
import type { LeafStep, StepDefinition } from '@millrace/engine/steps/types.ts'
import type { GraphStep } from '../graph/jobs/job.ts'

export interface Mark {
  /** From 1. */
  line: number
  column: number
  severity: 'error' | 'warning'
  text: string
}

export interface Checked {
  marks: Mark[]
  steps: GraphStep[]
  edges: Array<[from: string, to: string]>
}

export function checkConfiguration(text: string): Checked {
  const read = readPipeline(text, { origin: 'stored', maxBytes: DEFAULT_MAX_BYTES })
  if (!read.ok)
    return { marks: read.problems.map((problem) => markOf(problem, 'error')), steps: [], edges: [] }
  const marks = read.warnings.map((problem) => markOf(problem, 'warning'))
  return { marks, ...graphOf(read.document.steps) }
}

const markOf = (problem: Problem, severity: Mark['severity']): Mark => ({
  line: problem.line,
  column: problem.column,
  severity,
  text: describeProblem(problem),
})

interface Placed {
  id: string
  step: StepDefinition
  groupId: string | null
}

/** A step waits for the steps it names, else for the `wait` or `block` before it. */
function graphOf(definitions: readonly StepDefinition[]): Omit<Checked, 'marks'> {
  const placed = definitions.flatMap((step, index): Placed[] => {
    const id = `step-${index}`
    const inside = step.kind === 'group' ? step.steps : []
    const members = inside.map((each, place) => ({ id: `${id}-${place}`, step: each, groupId: id }))
    return [{ id, step, groupId: null }, ...members]
  })
  const byKey = new Map(
    placed.flatMap(({ id, step }) => (step.key === null ? [] : [[step.key, id] as const])),
  )
  const edges: Checked['edges'] = []
  let barrier: string | null = null
  let since: string[] = []
  for (const { id, step } of placed) {
    if (step.kind === 'group') continue
    const named = step.dependsOn?.flatMap(({ ref }) => byKey.get(ref) ?? []) ?? null
    const isBarrier = step.kind === 'wait' || step.kind === 'block'
    const sources = named ?? (isBarrier && since.length > 0 ? since : barrier === null ? [] : [barrier])
    for (const source of sources) edges.push([source, id])
    if (isBarrier) {
      barrier = id
      since = []
    } else since.push(id)
  }
  return { steps: placed.map(toGraphStep), edges }
}

const toGraphStep = ({ id, step, groupId }: Placed): GraphStep => ({
  id,
  kind: step.kind,
  key: step.key,
  label: step.label ?? (step.kind === 'group' ? step.key : fallbackLabel(step)),
  group_id: groupId,
  parallelism: 'parallelism' in step ? step.parallelism : null,
  matrix: step.kind === 'command' && step.matrix !== null,
  command: step.kind === 'command' ? step.command : null,
})

function fallbackLabel(step: LeafStep): string | null {
  if (step.kind === 'command') return step.command?.split('\n', 1)[0] ?? step.key
  return step.kind === 'trigger' ? step.pipeline : step.key
}
