// `$NAME` and `${NAME…}` in text. Pipelines and conditions share this scanner and differ in their dialect.

export type EnvLookup = (name: string) => string | undefined

interface Dialect {
  operators: readonly Operator[]
  mayStartName: (character: string) => boolean
}

type Operator = ':-' | '-' | ':+' | '+' | ':?' | '?'

export type Part = string | Expansion

export interface Expansion {
  name: string
  operation:
    | { kind: 'value' }
    | { kind: 'word'; operator: Operator; word: readonly Part[] }
    | { kind: 'substring'; offset: number; length: number | null }
}

type Scanned<T> = { ok: true; value: T; end: number } | { ok: false; message: string; offset: number }
export type Expanded = { ok: true; value: string } | { ok: false; message: string }

export const PIPELINE_DIALECT: Dialect = {
  operators: [':-', '-', '?'],
  mayStartName: (character) => /[A-Za-z]/.test(character),
}

export const CONDITION_DIALECT: Dialect = {
  operators: [':-', ':+', ':?', '-', '+', '?'],
  mayStartName: (character) => /[A-Za-z_]/.test(character),
}

const MAX_NESTING = 30

/** Scans text up to its end, or inside braces up to the closing one. */
export function scanParts(text: string, dialect: Dialect): Scanned<Part[]> {
  return scanUntil(text, 0, dialect, 0)
}

/** Scans one expansion; `offset` is at a `$`. A `$` that starts none is returned as text. */
export function scanExpansion(text: string, offset: number, dialect: Dialect, nesting = 0): Scanned<Part> {
  const next = text.charAt(offset + 1)
  if (next === '$') return { ok: true, value: '$', end: offset + 2 }
  if (next === '{') return scanBraces(text, offset, dialect, nesting)
  if (next === '' || !dialect.mayStartName(next)) return { ok: true, value: '$', end: offset + 1 }
  const end = endOfName(text, offset + 1)
  return { ok: true, value: { name: text.slice(offset + 1, end), operation: { kind: 'value' } }, end }
}

/** How many characters may still be written or looked through; shared by all texts of one document. */
export interface ExpansionBudget {
  left: number
}

/** Unset variables read as empty. */
export function expandParts(parts: readonly Part[], lookup: EnvLookup, budget: ExpansionBudget): Expanded {
  let value = ''
  for (const part of parts) {
    const piece: Expanded =
      typeof part === 'string' ? { ok: true, value: part } : expand(part, lookup, budget)
    if (!piece.ok) return piece
    budget.left -= piece.value.length
    if (budget.left < 0)
      return { ok: false, message: 'the text grows too long once its variables are filled in' }
    value += piece.value
  }
  return { ok: true, value }
}

function scanUntil(text: string, start: number, dialect: Dialect, nesting: number): Scanned<Part[]> {
  const parts: Part[] = []
  let literal = ''
  let offset = start
  while (offset < text.length) {
    const character = text.charAt(offset)
    const pair = text.slice(offset, offset + 2)
    if (character === '}' && nesting > 0) break
    if (pair === '\\$') {
      literal += '$'
      offset += 2
    } else if (pair === '\\\\' || pair === '$(') {
      literal += pair
      offset += 2
    } else if (character === '$') {
      const scanned = scanExpansion(text, offset, dialect, nesting)
      if (!scanned.ok) return scanned
      if (typeof scanned.value === 'string') literal += scanned.value
      else {
        if (literal !== '') parts.push(literal)
        literal = ''
        parts.push(scanned.value)
      }
      offset = scanned.end
    } else {
      literal += character
      offset += 1
    }
  }
  if (literal !== '') parts.push(literal)
  return { ok: true, value: parts, end: offset }
}

function scanBraces(text: string, offset: number, dialect: Dialect, nesting: number): Scanned<Part> {
  if (nesting >= MAX_NESTING) return refuse('`${…}` is nested too deeply', offset)
  const start = offset + 2
  if (!dialect.mayStartName(text.charAt(start))) {
    return refuse(`expected a variable name after \`\${\` (write \`$\${\` for a literal one)`, start)
  }
  const afterName = endOfName(text, start)
  const name = text.slice(start, afterName)
  if (text.charAt(afterName) === '}') {
    return { ok: true, value: { name, operation: { kind: 'value' } }, end: afterName + 1 }
  }
  const operator = dialect.operators.find((candidate) => text.startsWith(candidate, afterName))
  if (operator) {
    const word = scanUntil(text, afterName + operator.length, dialect, nesting + 1)
    if (!word.ok) return word
    if (text.charAt(word.end) !== '}') return refuse(`\`\${${name}\` has no closing brace`, offset)
    return {
      ok: true,
      value: { name, operation: { kind: 'word', operator, word: word.value } },
      end: word.end + 1,
    }
  }
  return scanSubstring(text, name, afterName, dialect)
}

function scanSubstring(text: string, name: string, offset: number, dialect: Dialect): Scanned<Part> {
  const close = text.indexOf('}', offset)
  if (close < 0) return refuse(`\`\${${name}\` has no closing brace`, offset)
  const found = /^:\s*(-?\d{1,9})\s*(?::\s*(-?\d{1,9})\s*)?$/.exec(
    text.slice(offset, Math.min(close, offset + 60)),
  )
  if (!found) {
    const known = [...dialect.operators, ':offset', ':offset:length'].join(' ')
    return refuse(`\`\${${name}…}\` does not use one of the known forms: ${known}`, offset)
  }
  const length = found[2] === undefined ? null : Number(found[2])
  return {
    ok: true,
    value: { name, operation: { kind: 'substring', offset: Number(found[1]), length } },
    end: close + 1,
  }
}

function expand(expansion: Expansion, lookup: EnvLookup, budget: ExpansionBudget): Expanded {
  const { name, operation } = expansion
  const value = lookup(name)
  if (operation.kind === 'value') return { ok: true, value: value ?? '' }
  if (operation.kind === 'substring') {
    budget.left -= value?.length ?? 0
    return { ok: true, value: substring(value ?? '', operation.offset, operation.length) }
  }
  const { operator, word } = operation
  const isMissing = value === undefined || (operator.startsWith(':') && value === '')
  if (operator.endsWith('+')) return isMissing ? { ok: true, value: '' } : expandParts(word, lookup, budget)
  if (!isMissing) return { ok: true, value }
  const text = expandParts(word, lookup, budget)
  if (operator.endsWith('-') || !text.ok) return text
  return { ok: false, message: `$${name}: ${text.value === '' ? 'not set' : text.value}` }
}

function substring(value: string, offset: number, length: number | null): string {
  const characters = Array.from(value)
  const size = characters.length
  const from = Math.min(size, Math.max(0, offset < 0 ? size + offset : offset))
  const to = length === null ? size : length < 0 ? size + length : from + length
  return characters.slice(from, Math.max(from, to)).join('')
}

function endOfName(text: string, start: number): number {
  let end = start
  while (end < text.length && /[A-Za-z0-9_]/.test(text.charAt(end))) end += 1
  return end
}

function refuse(message: string, offset: number): { ok: false; message: string; offset: number } {
  return { ok: false, message, offset }
}
