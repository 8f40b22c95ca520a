// Readers of single values. Each takes an attribute that may be absent, reports its problems, and returns a
// usable value either way.

import { nearestName } from '../nearest-name.ts'
import { describeNode } from '../source.ts'
import type { SourceEntry, SourceNode } from '../source.ts'
import type { Report } from './report.ts'

/** Numbers and booleans read as the text they were written as; absent and null are null. */
export function readText(entry: SourceEntry | undefined, report: Report): string | null {
  if (!entry) return null
  if (entry.value.kind === 'scalar') return entry.value.value === null ? null : entry.value.text
  wrong(entry, 'a string', report)
  return null
}

/** Like readText, but an empty or blank string is a problem. */
export function readName(entry: SourceEntry | undefined, report: Report): string | null {
  const text = readText(entry, report)
  if (entry && text !== null && text.trim() === '') wrong(entry, 'a string that is not blank', report)
  return text
}

export function readBoolean(entry: SourceEntry | undefined, report: Report): boolean | null {
  if (!entry || isNull(entry.value)) return null
  if (entry.value.kind === 'scalar') {
    if (entry.value.value === true || entry.value.value === 'true') return true
    if (entry.value.value === false || entry.value.value === 'false') return false
  }
  wrong(entry, '`true` or `false`', report)
  return null
}

/** Numbers of jobs are stored in columns of 32 bits. */
export const MIN_INTEGER = -2_147_483_648
export const MAX_INTEGER = 2_147_483_647

interface Range {
  min: number
  max: number
}

export function readInteger(entry: SourceEntry | undefined, range: Range, report: Report): number | null {
  if (!entry || isNull(entry.value)) return null
  const value = integerOf(entry.value, range)
  if (value === null) wrong(entry, `a whole number from ${range.min} to ${range.max}`, report)
  return value
}

export function readChoice<Choice extends string>(
  entry: SourceEntry | undefined,
  choices: readonly Choice[],
  report: Report,
): Choice | null {
  const text = readText(entry, report)
  if (!entry || text === null) return null
  const choice = choices.find((candidate) => candidate === text)
  if (choice !== undefined) return choice
  report.problem(entry.value, `\`${entry.key}\` cannot be ${describeNode(entry.value)}`, () => ({
    expected: `one of ${choices.map((candidate) => `\`${candidate}\``).join(', ')}`,
    suggestion: nearestName(text, choices),
  }))
  return null
}

/** A string or a list of strings; absent and null are null. */
export function readTexts(entry: SourceEntry | undefined, report: Report): string[] | null {
  if (!entry || isNull(entry.value)) return null
  const items = entry.value.kind === 'list' ? entry.value.items : [entry.value]
  return items.flatMap((item) => {
    if (item.kind === 'scalar' && item.value !== null) return [item.text]
    report.problem(item, `\`${entry.key}\` cannot contain ${describeNode(item)}`, { expected: 'strings' })
    return []
  })
}

/** A map of names to scalars, as pairs in the order they were written; a null value reads as "". */
export function readPairs(entry: SourceEntry | undefined, report: Report): Array<readonly [string, string]> {
  if (!entry || isNull(entry.value)) return []
  if (entry.value.kind !== 'map') {
    wrong(entry, 'a map of names to values', report)
    return []
  }
  return entry.value.entries.flatMap((pair) => {
    const { key, value } = pair
    if (key === '' || key.includes('=') || key.includes('\0')) {
      report.problem(pair, `"${key}" cannot be a name in \`${entry.key}\``)
    }
    if (value.kind === 'scalar') return [[key, value.value === null ? '' : value.text] as const]
    report.problem(value, `\`${entry.key}.${key}\` cannot be ${describeNode(value)}`, {
      expected: 'a string',
    })
    return []
  })
}

/** Null when the node is no whole number, or one outside of the range. */
export function integerOf(node: SourceNode, { min, max }: Range): number | null {
  if (node.kind !== 'scalar') return null
  const isText = typeof node.value === 'string' && /^-?\d{1,15}$/.test(node.value)
  const value = isText ? Number(node.value) : node.value
  const isWithin = typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max
  return isWithin ? value : null
}

/** Ids of steps look like this, so keys must not. */
export function looksLikeUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text)
}

export function isNull(node: SourceNode): boolean {
  return node.kind === 'scalar' && node.value === null
}

export function wrong(entry: SourceEntry, expected: string, report: Report): void {
  report.problem(entry.value, `\`${entry.key}\` cannot be ${describeNode(entry.value)}`, { expected })
}
