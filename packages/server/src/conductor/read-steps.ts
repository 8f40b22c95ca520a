// Reads steps that a job uploads. Pure, so that a thread can read large ones.
import type { Problem } from '@millrace/engine/problem.ts'
import { sourceFromValue } from '@millrace/engine/source.ts'
import { DEFAULT_MAX_BYTES, readPipelines, readPipelineTree } from '@millrace/engine/steps/document.ts'
import type { ReadPipelines } from '@millrace/engine/steps/document.ts'
import { formatProblem } from '@millrace/engine/steps/format-problem.ts'
import type { PipelineDocument } from '@millrace/engine/steps/types.ts'
import { isStorable } from '../lib/unstorable.ts'

const mostProblems = 20

/** As written, or JSON that was parsed already. */
export type GivenSteps = { text: string } | { value: unknown }

export interface ReadSteps {
  /** The documents, or what is wrong with them. */
  outcome: { ok: true; documents: PipelineDocument[] } | { ok: false; message: string }
  /** The text to store; empty where it is too long or holds characters that the database cannot store. */
  keptText: string
}

export function readSteps(steps: GivenSteps): ReadSteps {
  const read = 'text' in steps ? readText(steps.text) : readValue(steps.value)
  const keptText = keep('text' in steps ? steps.text : JSON.stringify(steps.value ?? null, null, 2))
  if (read.ok) return { outcome: { ok: true, documents: read.documents }, keptText }
  const message = describeProblems(read.problems, 'text' in steps ? keptText : '')
  return { outcome: { ok: false, message }, keptText }
}

const readText = (text: string) => readPipelines(text, { origin: 'upload', maxBytes: DEFAULT_MAX_BYTES })

function readValue(value: unknown): ReadPipelines {
  const tree = sourceFromValue(value)
  if (tree === null) {
    const message = 'the steps are too large, nest too deeply, or hold characters that cannot be kept'
    return { ok: false, problems: [{ message, line: 0, column: 0, step: null }] }
  }
  const read = readPipelineTree(tree, { origin: 'upload' })
  return read.ok ? { ok: true, documents: [read.document], warnings: read.warnings } : read
}

function describeProblems(problems: readonly Problem[], text: string): string {
  return problems
    .slice(0, mostProblems)
    .map((problem) => formatProblem('pipeline', text, problem))
    .join('\n')
}

const keep = (text: string): string =>
  isStorable(text) && Buffer.byteLength(text) <= DEFAULT_MAX_BYTES ? text : ''
