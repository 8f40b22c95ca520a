import type { Problem } from '../src/problem.ts'
import { readPipeline } from '../src/steps/document.ts'
import type { ReadOptions } from '../src/steps/document.ts'
import type { CommandStep, PipelineDocument, StepDefinition } from '../src/steps/types.ts'

const OPTIONS: ReadOptions = { origin: 'upload', maxBytes: 1024 * 1024 }

/** The document, or an error that shows what was wrong with it. */
export function mustRead(text: string, options: Partial<ReadOptions> = {}): PipelineDocument {
  const read = readPipeline(text, { ...OPTIONS, ...options })
  if (!read.ok) throw new Error(JSON.stringify(read.problems, null, 2))
  return read.document
}

export function mustRefuse(text: string, options: Partial<ReadOptions> = {}): Problem[] {
  const read = readPipeline(text, { ...OPTIONS, ...options })
  if (read.ok) throw new Error(`Expected a refusal of:\n${text}`)
  return read.problems
}

export function messages(text: string, options: Partial<ReadOptions> = {}): string[] {
  return mustRefuse(text, options).map((problem) => problem.message)
}

export function warnings(text: string): string[] {
  const read = readPipeline(text, OPTIONS)
  if (!read.ok) throw new Error(JSON.stringify(read.problems, null, 2))
  return read.warnings.map((warning) => warning.message)
}

/** The one step of `steps: [<flow map>]`. */
export function oneStep(step: string): StepDefinition {
  const [first] = mustRead(`steps:\n  - ${step}\n`).steps
  if (!first) throw new Error('No step was read.')
  return first
}

export function oneCommand(attributes: string): CommandStep {
  const step = oneStep(`{command: make, ${attributes}}`)
  if (step.kind !== 'command') throw new Error(`Read a ${step.kind} step.`)
  return step
}

/** Messages of `{command: make, <attributes>}`. */
export function refuseCommand(attributes: string): string[] {
  return messages(`steps:\n  - {command: make, ${attributes}}\n`)
}
