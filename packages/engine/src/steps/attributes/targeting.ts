import { splitPair } from '../../agents.ts'
import type { SourceEntry } from '../../source.ts'
import type { Report } from '../report.ts'
import { isNull, readPairs, readTexts, wrong } from '../values.ts'

/** The `key=value` rules an agent must meet, in the order they were written. */
export function readTargeting(entry: SourceEntry | undefined, report: Report): string[] {
  if (!entry || isNull(entry.value)) return []
  if (entry.value.kind === 'map') return readPairs(entry, report).map(([key, value]) => `${key}=${value}`)
  if (entry.value.kind === 'scalar') {
    wrong(entry, 'a map such as `queue: big`, or a list of `key=value`', report)
    return []
  }
  const rules = readTexts(entry, report) ?? []
  for (const rule of rules) {
    if (splitPair(rule)[0] === '') {
      report.problem(entry.value, `\`${entry.key}\` cannot contain "${rule}"`, { expected: '`key=value`' })
    }
  }
  return rules
}

/** The step's rules beat the document's key by key; the document's other keys stay. */
export function mergeTargeting(defaults: readonly string[], own: readonly string[]): string[] {
  const keyOf = (rule: string) => splitPair(rule)[0]
  const ownKeys = new Set(own.map(keyOf))
  const defaultKeys = new Set(defaults.map(keyOf))
  const placed = new Set<string>()
  const merged = defaults.flatMap((rule) => {
    const key = keyOf(rule)
    if (!ownKeys.has(key)) return [rule]
    if (placed.has(key)) return []
    placed.add(key)
    return own.filter((candidate) => keyOf(candidate) === key)
  })
  return [...merged, ...own.filter((rule) => !defaultKeys.has(keyOf(rule)))]
}
