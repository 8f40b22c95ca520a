// A step, or one attribute of it, as text.
import { stepOutcomeOf, stepStateOf } from '@millrace/engine/outcome.ts'
import { refused } from '../../lib/errors.ts'
import type { DefinedStep } from './step-rows.ts'

/** Text is returned as it is unless the format is JSON; lists and maps are always JSON. */
export function exportStep(step: DefinedStep, attribute: string | null, format: string | null): string {
  if (format !== null && format !== 'json' && format !== 'string') {
    throw refused(`The format is string or json, not ${format.slice(0, 100)}.`)
  }
  const attributes = attributesOf(step)
  if (attribute === null) return JSON.stringify(attributes)
  if (!Object.hasOwn(attributes, attribute)) {
    const known = Object.keys(attributes).join(', ')
    throw refused(`A step has no attribute ${attribute.slice(0, 100)}; it has ${known}.`)
  }
  const value = attributes[attribute]
  if (format === 'json') return JSON.stringify(value)
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  if (value === null) return ''
  throw refused(`${attribute} is a list or a map: ask for it as json.`)
}

function attributesOf(step: DefinedStep): Record<string, unknown> {
  const { definition } = step
  const command = definition.kind === 'command' ? definition : null
  return {
    agents: command?.agents ?? [],
    command: command?.command ?? null,
    concurrency_key: command?.concurrency?.group ?? null,
    concurrency_limit: command?.concurrency?.limit ?? null,
    depends_on: (definition.dependsOn ?? []).map(({ ref }) => ref),
    env: command?.env ?? {},
    if: definition.condition,
    key: definition.key,
    label: definition.label,
    notify: command?.notify ?? [],
    outcome: stepOutcomeOf(step),
    parallelism: command?.parallelism ?? null,
    priority: command?.priority ?? 0,
    state: stepStateOf(step),
    timeout: command?.timeoutMinutes ?? null,
    type: definition.kind,
  }
}
