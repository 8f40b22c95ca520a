// Parses the regular expressions of conditions: groups, classes, alternation, quantifiers, anchors and word boundaries.
// Backreferences and lookaround are refused, because a finite automaton cannot match them.

export type RegexNode =
  | { kind: 'empty' }
  | { kind: 'set'; ranges: readonly Range[]; negated: boolean }
  | { kind: 'assert'; what: Assertion }
  | { kind: 'sequence'; items: readonly RegexNode[] }
  | { kind: 'choice'; options: readonly RegexNode[] }
  | { kind: 'repeat'; item: RegexNode; min: number; max: number | null }

export type Assertion = 'start' | 'end' | 'word-boundary' | 'not-word-boundary'
export type Range = readonly [from: number, to: number]
type ParsedRegex = { ok: true; node: RegexNode } | { ok: false; message: string }

const MAX_NESTING = 50
const MAX_REPEAT = 1000
const LAST_CODE_POINT = 0x10ffff

const DIGIT: readonly Range[] = [[0x30, 0x39]]
const WORD: readonly Range[] = [...DIGIT, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]]
const SPACE: readonly Range[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]
const LINE_END: readonly Range[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
]

const CLASSES: Readonly<Record<string, readonly Range[]>> = {
  d: DIGIT,
  D: complement(DIGIT),
  w: WORD,
  W: complement(WORD),
  s: SPACE,
  S: complement(SPACE),
}
const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, v: 11, f: 12, a: 7, e: 27, '0': 0 }

const GROUP_REFUSALS: ReadonlyArray<readonly [prefix: string, message: string]> = [
  ['?<=', 'lookbehind is not supported'],
  ['?<!', 'lookbehind is not supported'],
  ['?=', 'lookahead is not supported'],
  ['?!', 'lookahead is not supported'],
  ['?>', 'atomic groups are not supported'],
  ['?<', 'named groups are not supported'],
  ["?'", 'named groups are not supported'],
  ['?P', 'named groups are not supported'],
  ['?(', 'conditional groups are not supported'],
  ['?', 'only plain groups and `(?:…)` are supported'],
]

export function parseRegex(source: string): ParsedRegex {
  try {
    return { ok: true, node: new RegexParser(Array.from(source)).parse() }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { ok: false, message: error.message }
  }
}

/** Unwinds the recursive parser below; never leaves this file. */
class Refusal extends Error {}

class RegexParser {
  private readonly characters: readonly string[]
  private offset = 0
  private nesting = 0

  constructor(characters: readonly string[]) {
    this.characters = characters
  }

  parse(): RegexNode {
    const node = this.choice()
    if (this.offset < this.characters.length) throw new Refusal('unmatched `)`')
    return node
  }

  private choice(): RegexNode {
    const options = [this.sequence()]
    while (this.take('|')) options.push(this.sequence())
    return options.length === 1 && options[0] ? options[0] : { kind: 'choice', options }
  }

  private sequence(): RegexNode {
    const items: RegexNode[] = []
    while (this.peek() !== '' && this.peek() !== '|' && this.peek() !== ')') items.push(this.quantified())
    if (items.length === 0) return { kind: 'empty' }
    return items.length === 1 && items[0] ? items[0] : { kind: 'sequence', items }
  }

  private quantified(): RegexNode {
    const isGroup = this.peek() === '('
    const item = this.atom()
    const bounds = this.quantifier()
    if (!bounds) return item
    if (item.kind === 'assert' && !isGroup) throw new Refusal('an anchor cannot be repeated')
    // A lazy repetition changes what is matched, not whether the expression matches.
    this.take('?')
    if (this.peek() === '+') throw new Refusal('possessive quantifiers are not supported')
    if (this.quantifier()) throw new Refusal('a quantifier cannot follow another')
    return { kind: 'repeat', item, min: bounds.min, max: bounds.max }
  }

  private quantifier(): { min: number; max: number | null } | null {
    if (this.take('*')) return { min: 0, max: null }
    if (this.take('+')) return { min: 1, max: null }
    if (this.take('?')) return { min: 0, max: 1 }
    if (this.peek() !== '{') return null
    const text = this.characters.slice(this.offset, this.offset + 20).join('')
    const found = /^\{(\d{1,6})(?:(,)(\d{1,6})?)?\}/.exec(text)
    if (!found) return null
    const min = Number(found[1])
    const max = found[3] !== undefined ? Number(found[3]) : found[2] ? null : min
    if (min > MAX_REPEAT || (max ?? 0) > MAX_REPEAT) {
      throw new Refusal(`a repetition may count to at most ${MAX_REPEAT}`)
    }
    if (max !== null && max < min) throw new Refusal('a repetition counts down')
    this.offset += found[0].length
    return { min, max }
  }

  private atom(): RegexNode {
    const character = this.next()
    if (character === '(') return this.group()
    if (character === '[') return this.characterClass()
    if (character === '.') return { kind: 'set', ranges: LINE_END, negated: true }
    if (character === '^') return { kind: 'assert', what: 'start' }
    if (character === '$') return { kind: 'assert', what: 'end' }
    if (character === '*' || character === '+' || character === '?') throw new Refusal('nothing to repeat')
    if (character === '\\') return this.escape()
    return single(character)
  }

  private group(): RegexNode {
    if (this.peek() === '?' && this.characters[this.offset + 1] === ':') this.offset += 2
    const opening = this.characters.slice(this.offset, this.offset + 3).join('')
    const refusal = GROUP_REFUSALS.find(([prefix]) => opening.startsWith(prefix))
    if (refusal) throw new Refusal(refusal[1])
    this.nesting += 1
    if (this.nesting > MAX_NESTING) throw new Refusal('groups are nested too deeply')
    const node = this.choice()
    if (!this.take(')')) throw new Refusal('unmatched `(`')
    this.nesting -= 1
    return node
  }

  private escape(): RegexNode {
    const character = this.peek()
    if (character === 'b' || character === 'B') {
      this.offset += 1
      return { kind: 'assert', what: character === 'b' ? 'word-boundary' : 'not-word-boundary' }
    }
    if (character === 'A' || character === 'z' || character === 'Z') {
      this.offset += 1
      return { kind: 'assert', what: character === 'A' ? 'start' : 'end' }
    }
    if (/[1-9k]/.test(character)) throw new Refusal('backreferences are not supported')
    return { kind: 'set', ranges: this.escapedRanges(), negated: false }
  }

  private characterClass(): RegexNode {
    const negated = this.take('^')
    const ranges: Range[] = []
    while (!this.take(']')) {
      if (this.peek() === '') throw new Refusal('unmatched `[`')
      if (this.peek() === '[' && this.characters[this.offset + 1] === ':') {
        throw new Refusal('named classes such as `[:alpha:]` are not supported')
      }
      ranges.push(...this.classMember())
    }
    return { kind: 'set', ranges, negated }
  }

  private classMember(): readonly Range[] {
    const from = this.classAtom()
    if (this.peek() !== '-' || this.characters[this.offset + 1] === ']') return from
    this.offset += 1
    if (this.peek() === '') throw new Refusal('unmatched `[`')
    const to = this.classAtom()
    const [first] = from
    const [last] = to
    if (!first || !last || first[0] !== first[1] || last[0] !== last[1] || from.length + to.length > 2) {
      throw new Refusal('a range in `[…]` needs a single character at each end')
    }
    if (last[0] < first[0]) throw new Refusal('a range in `[…]` runs backwards')
    return [[first[0], last[0]]]
  }

  private classAtom(): readonly Range[] {
    const character = this.next()
    if (character !== '\\') return [point(character)]
    if (!this.take('b')) return this.escapedRanges()
    return [[8, 8]]
  }

  private escapedRanges(): readonly Range[] {
    const character = this.next()
    const known = CLASSES[character]
    if (known) return known
    const control = CONTROLS[character]
    if (control !== undefined) return [[control, control]]
    if (character === 'x') return this.hex(/^[0-9a-fA-F]{2}/)
    if (character === 'u') return this.hex(/^[0-9a-fA-F]{4}/)
    if (character === '') throw new Refusal('a `\\` at the end escapes nothing')
    if (/[A-Za-z0-9]/.test(character)) throw new Refusal(`\`\\${character}\` is not supported`)
    return [point(character)]
  }

  private hex(shape: RegExp): readonly Range[] {
    const digits = shape.exec(this.characters.slice(this.offset, this.offset + 4).join(''))?.[0]
    if (!digits) throw new Refusal('a `\\x` or `\\u` escape needs hexadecimal digits')
    this.offset += digits.length
    return [[Number.parseInt(digits, 16), Number.parseInt(digits, 16)]]
  }

  private peek(): string {
    return this.characters[this.offset] ?? ''
  }

  private next(): string {
    const character = this.peek()
    this.offset += 1
    return character
  }

  private take(character: string): boolean {
    if (this.peek() !== character) return false
    this.offset += 1
    return true
  }
}

function single(character: string): RegexNode {
  return { kind: 'set', ranges: [point(character)], negated: false }
}

function point(character: string): Range {
  const code = character.codePointAt(0) ?? 0
  return [code, code]
}

function complement(ranges: readonly Range[]): readonly Range[] {
  const result: Range[] = []
  let next = 0
  for (const [from, to] of ranges) {
    if (from > next) result.push([next, from - 1])
    next = to + 1
  }
  return [...result, [next, LAST_CODE_POINT]]
}
