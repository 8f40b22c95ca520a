// Normalizes steps for the upload: one spelling for each field that has several.

import type { UploadedPipeline } from '@millrace/protocol/pipelines.ts'
import { isMap, type JsonMap } from '../../json-map.ts'
import { readPlugins } from '../../signing/signed-values.ts'

/** A bare list is a pipeline of steps. Null when the document is neither a list nor a map. */
export function normalizePipeline(document: unknown): UploadedPipeline | null {
  if (Array.isArray(document)) return { steps: document.map(normalizeStep) }
  if (!isMap(document)) return null
  const { steps } = document
  return { ...document, steps: Array.isArray(steps) ? steps.map(normalizeStep) : [] }
}

function normalizeStep(step: unknown): unknown {
  if (!isMap(step)) return step
  if (Array.isArray(step['steps'])) return { ...step, steps: step['steps'].map(normalizeStep) }
  const renamed = rename(rename(rename(step, 'id', 'key'), 'identifier', 'key'), 'name', 'label')
  const isCommand = ['command', 'commands', 'script', 'plugins'].some((key) => Object.hasOwn(step, key))
  return isCommand ? normalizeCommand(renamed) : renamed
}

function normalizeCommand(step: JsonMap): JsonMap {
  const { commands, ...rest } = rename(step, 'script', 'command')
  const written = rest['command'] ?? commands
  // In `command: {…}` the value is the whole step; the server knows that form too.
  if (isMap(written)) return step
  const lines: unknown[] = Array.isArray(written) ? written : [written]
  const command = written === undefined || written === null ? written : lines.map(String).join('\n')
  const plugins = readPlugins(rest['plugins'])
  return {
    ...rest,
    ...(command === undefined ? {} : { command }),
    ...(plugins === null ? {} : { plugins }),
  }
}

/** The proper name wins when both are there. */
function rename(step: JsonMap, from: string, to: string): JsonMap {
  if (!Object.hasOwn(step, from)) return step
  const { [from]: value, ...rest } = step
  return Object.hasOwn(rest, to) ? rest : { ...rest, [to]: value }
}
