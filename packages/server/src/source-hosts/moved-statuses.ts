import type { NotifyEntry, PipelineDocument, StepDefinition } from '@millrace/engine/steps/types.ts'
import { contextBelow, contextOfSlug } from './status.ts'

const mostNamed = 10

/** Describes the commit statuses that a fork asks for and that get other names. Null: none. */
export function describeMovedStatuses(slug: string, documents: readonly PipelineDocument[]): string | null {
  const base = contextOfSlug(slug)
  const entries = documents.flatMap(({ notify, steps }) => [...notify, ...steps.flatMap(entriesOf)])
  const asked = [...new Set(entries.flatMap((entry) => nameIn(entry) ?? []))]
  const moved = asked.filter((name) => contextBelow(base, name) !== name).slice(0, mostNamed)
  if (moved.length === 0) return null
  const names = moved.map((name) => `"${contextBelow(base, name)}" instead of "${name}"`).join(', ')
  return `Commit statuses of forks are published below "${base}/": ${names}`
}

function entriesOf(step: StepDefinition): NotifyEntry[] {
  const own = 'notify' in step ? step.notify : []
  return step.kind === 'group' ? [...own, ...step.steps.flatMap(entriesOf)] : [...own]
}

function nameIn({ service, settings }: NotifyEntry): string | null {
  if (typeof settings !== 'object' || settings === null) return null
  const key = service === 'github_check' ? 'name' : 'context'
  const name: unknown = Reflect.get(settings, key)
  return typeof name === 'string' && name.trim() !== '' ? name.trim() : null
}
