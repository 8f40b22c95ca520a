import { CONDITION_DIALECT, scanExpansion } from '../expansion.ts'
import type { Part } from '../expansion.ts'
import { ConditionError } from './syntax.ts'
import type { Token } from './syntax.ts'

const SYMBOLS = ['==', '!=', '=~', '!~', '&&', '||', '!', '?', ':', '(', ')', '[', ']', ',']
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  s: ' ',
  r: '\r',
  t: '\t',
  v: '\v',
  f: '\f',
  b: '\b',
  a: '\u0007',
  e: '\u001b',
  '"': '"',
  '\\': '\\',
  $: '$',
}

/** Throws ConditionError at the first character that starts no token. */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = []
  let offset = skipBlank(source, 0)
  while (offset < source.length) {
    const { token, end } = readToken(source, offset)
    tokens.push(token)
    offset = skipBlank(source, end)
  }
  tokens.push({ kind: 'end', offset: source.length })
  return tokens
}

interface Read {
  token: Token
  end: number
}

function readToken(source: string, offset: number): Read {
  const character = source.charAt(offset)
  if (character === "'") return readSingleQuoted(source, offset)
  if (character === '"') return readDoubleQuoted(source, offset)
  if (character === '/') return readRegex(source, offset)
  if (character === '$') return readShell(source, offset)
  const word = /[A-Za-z0-9_]/.test(character) ? readWord(source, offset) : null
  if (word && /^\d+$/.test(word)) {
    const value = Number(word)
    if (!Number.isSafeInteger(value)) throw new ConditionError('the number is too large', offset)
    return { token: { kind: 'integer', value, offset }, end: offset + word.length }
  }
  if (word && /^[A-Za-z_]/.test(word))
    return { token: { kind: 'name', text: word, offset }, end: offset + word.length }
  const symbol = SYMBOLS.find((candidate) => source.startsWith(candidate, offset))
  if (symbol) return { token: { kind: 'symbol', text: symbol, offset }, end: offset + symbol.length }
  throw new ConditionError(
    `unexpected \`${word ?? String.fromCodePoint(source.codePointAt(offset) ?? 0)}\``,
    offset,
  )
}

function readWord(source: string, offset: number): string {
  let end = offset
  while (end < source.length && /[A-Za-z0-9_.]/.test(source.charAt(end))) end += 1
  return source.slice(offset, end)
}

function readSingleQuoted(source: string, offset: number): Read {
  let text = ''
  for (let at = offset + 1; at < source.length; at += 1) {
    const character = source.charAt(at)
    if (character === "'") {
      return { token: { kind: 'string', parts: text === '' ? [] : [text], offset }, end: at + 1 }
    }
    const next = source.charAt(at + 1)
    if (character === '\\' && (next === '\\' || next === "'")) at += 1
    text += source.charAt(at)
  }
  throw new ConditionError('the string has no closing quote', offset)
}

function readDoubleQuoted(source: string, offset: number): Read {
  const parts: Part[] = []
  let text = ''
  let at = offset + 1
  while (at < source.length) {
    const character = source.charAt(at)
    if (character === '"') {
      if (text !== '') parts.push(text)
      return { token: { kind: 'string', parts, offset }, end: at + 1 }
    }
    if (character === '\\') {
      const escape = readEscape(source, at)
      text += escape.text
      at = escape.end
    } else if (character === '$') {
      const scanned = scanExpansion(source, at, CONDITION_DIALECT)
      if (!scanned.ok) throw new ConditionError(scanned.message, scanned.offset)
      if (typeof scanned.value === 'string') text += scanned.value
      else {
        if (text !== '') parts.push(text)
        text = ''
        parts.push(scanned.value)
      }
      at = scanned.end
    } else {
      text += character
      at += 1
    }
  }
  throw new ConditionError('the string has no closing quote', offset)
}

function readEscape(source: string, at: number): { text: string; end: number } {
  const next = source.charAt(at + 1)
  const known = ESCAPES[next]
  if (known !== undefined) return { text: known, end: at + 2 }
  const coded = /^\\(?:x([0-9a-fA-F]{2})|([0-3][0-7]{2}))/.exec(source.slice(at, at + 4))
  if (!coded) throw new ConditionError(`\`\\${next}\` is not an escape in double quotes`, at)
  const code = coded[1] === undefined ? Number.parseInt(coded[2] ?? '', 8) : Number.parseInt(coded[1], 16)
  return { text: String.fromCharCode(code), end: at + 4 }
}

function readRegex(source: string, offset: number): Read {
  let text = ''
  for (let at = offset + 1; at < source.length; at += 1) {
    const character = source.charAt(at)
    if (character === '/') {
      const flags = /^[A-Za-z0-9_]*/.exec(source.slice(at + 1, at + 20))?.[0] ?? ''
      if (flags !== '' && flags !== 'i') {
        throw new ConditionError('the only flag of a regular expression is `i`', at + 1)
      }
      return {
        token: { kind: 'regex', source: text, ignoreCase: flags === 'i', offset },
        end: at + 1 + flags.length,
      }
    }
    if (character === '\\' && source.charAt(at + 1) !== '/') {
      text += character
      at += 1
    } else if (character === '\\') at += 1
    text += source.charAt(at)
  }
  throw new ConditionError('the regular expression has no closing `/`', offset)
}

function readShell(source: string, offset: number): Read {
  const scanned = scanExpansion(source, offset, CONDITION_DIALECT)
  if (!scanned.ok) throw new ConditionError(scanned.message, scanned.offset)
  if (typeof scanned.value === 'string')
    throw new ConditionError('expected a variable name after `$`', offset)
  return { token: { kind: 'shell', expansion: scanned.value, offset }, end: scanned.end }
}

function skipBlank(source: string, start: number): number {
  let offset = start
  for (;;) {
    while (offset < source.length && /\s/.test(source.charAt(offset))) offset += 1
    if (!source.startsWith('//', offset)) return offset
    const lineEnd = source.indexOf('\n', offset)
    offset = lineEnd < 0 ? source.length : lineEnd
  }
}
