// Path patterns. `?` is one character and `*` a run of characters, neither crossing `/`; `**` crosses; `/**/` is
// also a single `/`; `{a,b}` alternates and nests; `[abc]` and `[^abc]` list characters; `\` takes the next
// character as it is. The whole path has to match. Alternatives and wildcards are states that advance together,
// so no pattern makes matching slow.

import { compileParts, runParts } from './glob-automaton.ts'
import type { GlobPart } from './glob-automaton.ts'

const MAX_PATTERN = 2_000

export function matchesGlob(pattern: string, path: string): boolean {
  return compileGlob(pattern)?.(path) ?? false
}

/** A matcher for many paths; null when the pattern is malformed, which then matches nothing. */
export function compileGlob(pattern: string): ((path: string) => boolean) | null {
  const parts = pattern.length > MAX_PATTERN ? null : parseGlob(pattern)
  if (!parts) return null
  const program = compileParts(parts)
  return (path) => runParts(program, path)
}

/** `*` stands for any run of characters, `/` included; nothing else is special. */
export function matchesWildcard(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return pattern === text
  if (!text.startsWith(first)) return false
  let offset = first.length
  for (const piece of rest) {
    const found = text.indexOf(piece, offset)
    if (found < 0) return false
    offset = found + piece.length
  }
  return text.length - last.length >= offset && text.endsWith(last)
}

function parseGlob(pattern: string): GlobPart[] | null {
  const characters = Array.from(pattern)
  // `**/` at the front also stands for no folder at all, so that `**/*.go` finds the files of the root.
  if (pattern.startsWith('**/')) {
    const rest = parseSequence(characters, 3, 0)
    const folders: GlobPart[] = [{ kind: 'anything' }, literal('/')]
    return rest && [{ kind: 'choice', options: [[], folders] }, ...rest.parts]
  }
  return parseSequence(characters, 0, 0)?.parts ?? null
}

interface Parsed {
  parts: GlobPart[]
  end: number
}

function parseSequence(characters: readonly string[], start: number, nesting: number): Parsed | null {
  const parts: GlobPart[] = []
  let offset = start
  while (offset < characters.length) {
    const character = characters[offset] ?? ''
    if (nesting > 0 && (character === ',' || character === '}')) break
    const parsed = parseOne(characters, offset, nesting)
    if (!parsed) return null
    parts.push(...parsed.parts)
    offset = parsed.end
  }
  return { parts, end: offset }
}

function parseOne(characters: readonly string[], offset: number, nesting: number): Parsed | null {
  const character = characters[offset] ?? ''
  const ahead = characters.slice(offset, offset + 4).join('')
  if (ahead === '/**/') return { parts: [{ kind: 'any-folders' }], end: offset + 4 }
  if (ahead.startsWith('**')) return { parts: [{ kind: 'anything' }], end: offset + 2 }
  if (character === '*') return { parts: [{ kind: 'segment' }], end: offset + 1 }
  if (character === '?') return { parts: [{ kind: 'set', characters: '/', negated: true }], end: offset + 1 }
  if (character === '\\') {
    const escaped = characters[offset + 1]
    return escaped === undefined ? null : { parts: [literal(escaped)], end: offset + 2 }
  }
  if (character === '[') return parseSet(characters, offset)
  if (character === '{') return nesting > 20 ? null : parseAlternatives(characters, offset, nesting)
  return { parts: [literal(character)], end: offset + 1 }
}

function parseAlternatives(characters: readonly string[], start: number, nesting: number): Parsed | null {
  const options: GlobPart[][] = []
  let offset = start
  do {
    const option = parseSequence(characters, offset + 1, nesting + 1)
    if (!option) return null
    options.push(option.parts)
    offset = option.end
  } while (characters[offset] === ',')
  return characters[offset] === '}' ? { parts: [{ kind: 'choice', options }], end: offset + 1 } : null
}

function parseSet(characters: readonly string[], start: number): Parsed | null {
  const negated = characters[start + 1] === '^'
  let members = ''
  for (let offset = start + (negated ? 2 : 1); offset < characters.length; offset += 1) {
    const character = characters[offset]
    if (character === ']') return { parts: [{ kind: 'set', characters: members, negated }], end: offset + 1 }
    if (character === '\\') offset += 1
    members += characters[offset] ?? ''
  }
  return null
}

function literal(character: string): GlobPart {
  return { kind: 'set', characters: character, negated: false }
}
