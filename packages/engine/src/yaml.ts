// Reads untrusted text into source trees. The YAML library is fed token by token, so that depth and
// amount are refused while they grow instead of after they have been built; anchors are resolved here and not
// by the library, whose own look-up visits the whole document for every alias.

import { Composer, isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, Parser, stringify } from 'yaml'
import type { Pair, ParsedNode } from 'yaml'
import { createProblem } from './problem.ts'
import type { Problem } from './problem.ts'
import { isUnreadable, MAX_CHARACTERS, MAX_DEPTH, MAX_VALUES } from './source.ts'
import type { Position, SourceEntry, SourceMap, SourceNode, SourceScalar } from './source.ts'

type ParsedSource = { ok: true; documents: SourceNode[] } | { ok: false; problem: Problem }

const MAX_LEXEMES = 150_000
const MAX_DOCUMENTS = 100

/** Every document of the text, in order. Empty documents are dropped, unless there is nothing else. */
export function parseSource(text: string, maxBytes: number): ParsedSource {
  try {
    if (exceedsBytes(text, maxBytes)) throw new Refusal(`the file is larger than ${maxBytes} bytes`, START)
    refuseUnreadable(text, START)
    return { ok: true, documents: withoutEmpty(composeDocuments(text)) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { ok: false, problem: createProblem(error.message, error.at, null) }
  }
}

/** Without anchors: what is there twice is written twice. */
export const writeYaml = (value: unknown): string =>
  stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 })

const START: Position = { line: 1, column: 1 }

/** Unwinds the recursive reading below; never leaves this file. */
class Refusal extends Error {
  readonly at: Position
  constructor(message: string, at: Position) {
    super(message)
    this.at = at
  }
}

function composeDocuments(text: string): SourceNode[] {
  const lines = new LineCounter()
  const positionAt = (offset: number): Position => {
    const found = lines.linePos(offset)
    return { line: Math.max(1, found.line), column: Math.max(1, found.col) }
  }
  const composer = new Composer({
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'silent',
  })
  stopAtFirstError(composer, positionAt)
  const documents: SourceNode[] = []
  for (const document of composer.compose(guardedTokens(text, lines, positionAt), true, text.length)) {
    const error = document.errors[0]
    if (error) throw new Refusal(sentence(error.message), positionAt(Math.min(error.pos[0], text.length)))
    if (documents.length === MAX_DOCUMENTS) {
      throw new Refusal(`the file holds more than ${MAX_DOCUMENTS} documents`, positionAt(document.range[0]))
    }
    documents.push(new TreeReader(positionAt).read(document.contents))
  }
  return documents
}

/**
 * The composer collects errors, each with a stack trace, and hostile text has a hundred thousand. It offers no way
 * to stop, so its own collector is replaced; without that, the first error would be found all the same, only late.
 */
function stopAtFirstError(composer: Composer, positionAt: (offset: number) => Position): void {
  let first: Refusal | null = null
  const collect = (source: ErrorSource, _code: string, message: string, isWarning?: boolean) => {
    if (isWarning) return
    const offset = typeof source === 'number' ? source : 'offset' in source ? source.offset : source[0]
    // The composer catches errors inside a collection and reports them again for the collection.
    first ??= new Refusal(sentence(message), positionAt(offset))
    throw first
  }
  Reflect.set(composer, 'onError', collect)
}

type ErrorSource = number | readonly [number, number] | { offset: number }

function* guardedTokens(text: string, lines: LineCounter, positionAt: (offset: number) => Position) {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  let lexemes = 0
  for (const lexeme of new Lexer().lex(text)) {
    lexemes += 1
    if (lexemes > MAX_LEXEMES) throw new Refusal('the file holds too many values', positionAt(parser.offset))
    for (const token of parser.next(lexeme)) {
      // Left to the composer, every one of these would become an error with a stack trace.
      if (token.type === 'error') throw new Refusal(sentence(token.message), positionAt(token.offset))
      yield token
    }
    // A block collection inside another takes up to two places on the parser's stack.
    if (parser.stack.length > 2 * MAX_DEPTH + 2) throw tooDeep(positionAt(parser.offset))
  }
  yield* parser.end()
}

class TreeReader {
  private readonly positionAt: (offset: number) => Position
  private readonly anchors = new Map<string, { node: SourceNode | null; weight: Weight }>()
  private total: Weight = { values: 0, characters: 0 }

  constructor(positionAt: (offset: number) => Position) {
    this.positionAt = positionAt
  }

  read(node: ParsedNode | null): SourceNode {
    return this.convert(node, START, 0)
  }

  private convert(node: ParsedNode | null, fallback: Position, depth: number): SourceNode {
    const at = node ? this.positionAt(node.range[0]) : fallback
    if (depth > MAX_DEPTH) throw tooDeep(at)
    if (isAlias(node)) return this.follow(node.source, at)
    const anchor = node?.anchor
    const before = this.total
    if (anchor !== undefined) this.anchors.set(anchor, { node: null, weight: before })
    const converted = this.convertPlain(node, at, depth)
    this.weigh({ values: 1, characters: converted.kind === 'scalar' ? converted.text.length : 0 }, at)
    if (anchor !== undefined) {
      const weight = {
        values: this.total.values - before.values,
        characters: this.total.characters - before.characters,
      }
      this.anchors.set(anchor, { node: converted, weight })
    }
    return converted
  }

  private convertPlain(node: ParsedNode | null, at: Position, depth: number): SourceNode {
    if (isMap(node)) return { kind: 'map', entries: this.convertEntries(node.items, at, depth), ...at }
    if (isSeq(node)) {
      const items = (node.items as (ParsedNode | null)[]).map((item) => this.convert(item, at, depth + 1))
      return { kind: 'list', items, ...at }
    }
    return isScalar(node) ? readScalar(node.value, node.source ?? '', at) : readScalar(null, '', at)
  }

  private convertEntries(pairs: Pairs, at: Position, depth: number): SourceEntry[] {
    const own = new Map<string, SourceEntry>()
    const merged = new Map<string, SourceEntry>()
    for (const { key, value } of pairs) {
      if (isMergeKey(key)) {
        for (const map of this.mergeSources(value, at, depth)) {
          for (const entry of map.entries) if (!merged.has(entry.key)) merged.set(entry.key, entry)
        }
        continue
      }
      const name = this.convert(key, at, depth + 1)
      if (name.kind !== 'scalar') throw new Refusal('a map key must be plain text', name)
      const position = key ? this.positionAt(key.range[0]) : at
      if (own.has(name.text)) throw new Refusal(`the key "${name.text}" appears twice in one map`, position)
      own.set(name.text, { key: name.text, value: this.convert(value, position, depth + 1), ...position })
    }
    return [...own.values(), ...[...merged.values()].filter((entry) => !own.has(entry.key))]
  }

  private mergeSources(value: ParsedNode | null, at: Position, depth: number): SourceMap[] {
    const node = this.convert(value, at, depth + 1)
    const maps = node.kind === 'list' ? node.items : [node]
    return maps.map((map) => {
      if (map.kind === 'map') return map
      throw new Refusal('`<<` takes a map or a list of maps', map)
    })
  }

  private follow(name: string, at: Position): SourceNode {
    const target = this.anchors.get(name)
    if (!target) throw new Refusal(`the alias *${name} names no anchor above it`, at)
    if (!target.node) throw new Refusal(`the alias *${name} contains itself`, at)
    this.weigh(target.weight, at)
    return target.node
  }

  private weigh(weight: Weight, at: Position): void {
    this.total = {
      values: this.total.values + weight.values,
      characters: this.total.characters + weight.characters,
    }
    if (this.total.values > MAX_VALUES || this.total.characters > MAX_CHARACTERS) {
      throw new Refusal('the document grows too large once its aliases are written out', at)
    }
  }
}

type Pairs = Pair<ParsedNode | null, ParsedNode | null>[]

interface Weight {
  values: number
  characters: number
}

function readScalar(value: unknown, source: string, at: Position): SourceScalar {
  if (typeof value === 'number') return { kind: 'scalar', value, text: source, ...at }
  if (typeof value === 'boolean') return { kind: 'scalar', value, text: String(value), ...at }
  if (typeof value !== 'string') return { kind: 'scalar', value: null, text: source, ...at }
  refuseUnreadable(value, at)
  return { kind: 'scalar', value, text: value, ...at }
}

function isMergeKey(key: ParsedNode | null): boolean {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN'
}

function withoutEmpty(documents: SourceNode[]): SourceNode[] {
  const full = documents.filter((node) => node.kind !== 'scalar' || node.value !== null)
  return full.length > 0 ? full : documents.slice(0, 1)
}

function refuseUnreadable(text: string, at: Position): void {
  if (isUnreadable(text))
    throw new Refusal('the text contains a NUL character or half of a surrogate pair', at)
}

function tooDeep(at: Position): Refusal {
  return new Refusal(`values are nested more than ${MAX_DEPTH} levels deep`, at)
}

function sentence(message: string): string {
  const line = message.split('\n', 1)[0] ?? message
  return `the YAML does not parse: ${line.charAt(0).toLowerCase()}${line.slice(1)}`
}

function exceedsBytes(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true
  if (text.length * 3 <= maxBytes) return false
  let bytes = 0
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    const isHalfPair = unit >= 0xd800 && unit <= 0xdfff
    bytes += unit < 0x80 ? 1 : unit < 0x800 || isHalfPair ? 2 : 3
  }
  return bytes > maxBytes
}
