// A document as it was written: values with the place each came from. Trees are immutable, and an aliased value
// is the same object wherever it is used.

export interface Position {
  /** From 1; 0 when the document did not come from text. */
  line: number
  column: number
}

export type SourceNode = SourceScalar | SourceList | SourceMap

export interface SourceScalar extends Position {
  kind: 'scalar'
  value: string | number | boolean | null
  /** The value as text: numbers keep their digits as written, so 3.10 stays 3.10. */
  text: string
}

export interface SourceList extends Position {
  kind: 'list'
  items: readonly SourceNode[]
}

export interface SourceMap extends Position {
  kind: 'map'
  /** Merge keys are already folded in; keys are unique. */
  entries: readonly SourceEntry[]
}

export interface SourceEntry extends Position {
  key: string
  value: SourceNode
}

/** Deeper nesting than any pipeline needs, shallow enough for recursive readers. */
export const MAX_DEPTH = 60
/** In one document, with every alias written out, as later stages will see them. */
export const MAX_VALUES = 100_000
export const MAX_CHARACTERS = 8 * 1024 * 1024

export function findEntry(map: SourceMap, key: string): SourceEntry | undefined {
  return map.entries.find((entry) => entry.key === key)
}

export function textScalar(text: string, at: Position): SourceScalar {
  return { kind: 'scalar', value: text, text, line: at.line, column: at.column }
}

/** The name of this value's kind in an error message. */
export function describeNode(node: SourceNode): string {
  if (node.kind === 'list') return 'a list'
  if (node.kind === 'map') return 'a map'
  if (node.value === null) return 'nothing'
  if (typeof node.value === 'string') return node.value === '' ? 'an empty string' : `"${shorten(node.text)}"`
  return `${typeof node.value === 'number' ? 'the number ' : ''}${shorten(node.text)}`
}

/** The tree as plain JSON values. A number that would lose digits becomes a string. */
export function plainValue(node: SourceNode): unknown {
  if (node.kind === 'list') return node.items.map(plainValue)
  if (node.kind === 'map') {
    return Object.fromEntries(node.entries.map((entry) => [entry.key, plainValue(entry.value)]))
  }
  if (typeof node.value !== 'number') return node.value
  return Number.isSafeInteger(node.value) || String(node.value) === node.text ? node.value : node.text
}

/** NUL, or half of a surrogate pair: neither survives a database or a file. */
export function isUnreadable(text: string): boolean {
  return text.includes('\0') || /\p{Surrogate}/u.test(text)
}

/** A tree from JSON that was parsed elsewhere; null when it is too deep or too large, or holds invalid characters. */
export function sourceFromValue(value: unknown): SourceNode | null {
  return convert(value, 0, { values: 0, characters: 0 })
}

interface Amount {
  values: number
  characters: number
}

/** Counts the values it converts, and stops at the limit. */
function convert(value: unknown, depth: number, total: Amount): SourceNode | null {
  total.values += 1
  if (typeof value === 'string') total.characters += value.length
  if (depth > MAX_DEPTH || total.values > MAX_VALUES || total.characters > MAX_CHARACTERS) return null
  const at = { line: 0, column: 0 }
  if (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'boolean'
  ) {
    if (typeof value === 'string' && isUnreadable(value)) return null
    return { kind: 'scalar', value, text: value === null ? '' : String(value), ...at }
  }
  if (typeof value !== 'object') return null
  if (Array.isArray(value)) {
    const items: SourceNode[] = []
    for (const item of value) {
      const node = convert(item, depth + 1, total)
      if (!node) return null
      items.push(node)
    }
    return { kind: 'list', items, ...at }
  }
  const entries: SourceEntry[] = []
  for (const [key, item] of Object.entries(value)) {
    const node = convert(item, depth + 1, total)
    if (!node || isUnreadable(key)) return null
    entries.push({ key, value: node, ...at })
  }
  return { kind: 'map', entries, ...at }
}

function shorten(text: string): string {
  const line = text.split('\n', 1)[0] ?? ''
  return line.length > 40 || line.length < text.length ? `${line.slice(0, 40)}…` : line
}
