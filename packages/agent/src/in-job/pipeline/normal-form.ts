// The form in which steps travel: one spelling for what people may write in several ways.

import { canonicalPluginSource } from '@millrace/engine/plugin-source.ts'
import type { UploadedPipeline } from '@millrace/protocol/pipelines.ts'

type Map = Record<string, unknown>

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

function normalizeCommand(step: Map): Map {
  const { commands, ...rest } = step
  const written = rest['command'] ?? commands
  // In `command: {…}` the value is the whole step; the server knows that form too.
  if (isMap(written)) return step
  const command = Array.isArray(written) ? written.map(String).join('\n') : written
  const plugins = normalizePlugins(rest['plugins'])
  return {
    ...rest,
    ...(command === undefined ? {} : { command }),
    ...(plugins === null ? {} : { plugins }),
  }
}

function normalizePlugins(plugins: unknown): Map[] | null {
  const entries = Array.isArray(plugins) ? plugins : isMap(plugins) ? [plugins] : null
  if (entries === null) return null
  return entries.flatMap((entry): Map[] => {
    if (typeof entry === 'string') return [{ [canonicalPluginSource(entry)]: null }]
    if (!isMap(entry)) return []
    return Object.entries(entry).map(([source, config]) => ({
      [canonicalPluginSource(source)]: config ?? null,
    }))
  })
}

/** The proper name wins when both are there. */
function rename(step: Map, from: string, to: string): Map {
  if (!Object.hasOwn(step, from)) return step
  const { [from]: value, ...rest } = step
  return Object.hasOwn(rest, to) ? rest : { ...rest, [to]: value }
}

function isMap(value: unknown): value is Map {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
