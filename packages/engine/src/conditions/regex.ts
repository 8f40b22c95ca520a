// Matches in time proportional to text × expression: all states of a nondeterministic automaton advance together, one
// character at a time. The steps of one condition are limited, so that it cannot block the event loop; regular expression
// libraries offer no such limit.

import { parseRegex } from './regex-syntax.ts'
import type { Assertion, Range, RegexNode } from './regex-syntax.ts'

/** A valid expression. Its automaton is built when it is used. */
interface Regex {
  readonly node: RegexNode
  readonly ignoreCase: boolean
}

/** The number of steps left, shared by all searches of one condition. */
export interface SearchBudget {
  left: number
}

type Instruction =
  | { op: 'set'; ranges: readonly Range[]; negated: boolean }
  | { op: 'assert'; what: Assertion }
  | { op: 'split'; first: number; second: number }
  | { op: 'jump'; to: number }
  | { op: 'match' }

const MAX_SOURCE = 2_000
const MAX_INSTRUCTIONS = 5_000
const MAX_STEPS = 1_000_000

type CompiledRegex = { ok: true; regex: Regex } | { ok: false; message: string }
type RegexAnswer = { ok: true; matches: boolean } | { ok: false; message: string }

export function compileRegex(source: string, options: { ignoreCase: boolean }): CompiledRegex {
  if (source.length > MAX_SOURCE) return { ok: false, message: 'the regular expression is too long' }
  const parsed = parseRegex(source)
  if (!parsed.ok) return parsed
  if (sizeOf(parsed.node) > MAX_INSTRUCTIONS) {
    return {
      ok: false,
      message: 'the regular expression grows too large when its repetitions are written out',
    }
  }
  return { ok: true, regex: { node: parsed.node, ignoreCase: options.ignoreCase } }
}

export function createSearchBudget(): SearchBudget {
  return { left: MAX_STEPS }
}

/** Whether the expression matches anywhere in the text. */
export function searchRegex(regex: Regex, text: string, budget: SearchBudget): RegexAnswer {
  return run(regex, text, false, budget)
}

/** Whether the expression matches the text from its first character to its last. */
export function matchWhole(regex: Regex, text: string, budget: SearchBudget): RegexAnswer {
  return run(regex, text, true, budget)
}

function run(regex: Regex, text: string, isWhole: boolean, budget: SearchBudget): RegexAnswer {
  const program: Instruction[] = []
  emit(regex.node, program)
  program.push({ op: 'match' })
  budget.left -= program.length
  let current = new States(program.length)
  let upcoming = new States(program.length)
  let offset = 0
  for (;;) {
    if (!isWhole || offset === 0) addState(program, current, 0, text, offset)
    const isAtEnd = offset >= text.length
    if (current.has(program.length - 1) && (!isWhole || isAtEnd)) return { ok: true, matches: true }
    if (isAtEnd) return { ok: true, matches: false }
    const code = text.codePointAt(offset) ?? 0
    const codes = regex.ignoreCase ? everyCase(code) : [code]
    offset += code > 0xffff ? 2 : 1
    budget.left -= current.count + 1
    if (budget.left < 0) return { ok: false, message: 'the regular expression takes too long on this text' }
    for (let index = 0; index < current.count; index += 1) {
      const state = current.at(index)
      const instruction = program[state]
      if (instruction?.op === 'set' && accepts(instruction, codes)) {
        addState(program, upcoming, state + 1, text, offset)
      }
    }
    ;[current, upcoming] = [upcoming, current]
    upcoming.clear()
  }
}

/** A set of instruction numbers in order of insertion, which is cleared in constant time. */
class States {
  count = 0
  private readonly dense: Int32Array
  private readonly place: Int32Array

  constructor(size: number) {
    this.dense = new Int32Array(size)
    this.place = new Int32Array(size)
  }

  at(index: number): number {
    return this.dense[index] ?? 0
  }

  has(state: number): boolean {
    const place = this.place[state] ?? 0
    return place < this.count && this.dense[place] === state
  }

  add(state: number): void {
    this.dense[this.count] = state
    this.place[state] = this.count
    this.count += 1
  }

  clear(): void {
    this.count = 0
  }
}

/** Adds a state and everything reachable from it without reading a character. */
function addState(
  program: readonly Instruction[],
  states: States,
  start: number,
  text: string,
  offset: number,
): void {
  const pending = [start]
  for (let state = pending.pop(); state !== undefined; state = pending.pop()) {
    if (states.has(state)) continue
    states.add(state)
    const instruction = program[state]
    if (instruction?.op === 'jump') pending.push(instruction.to)
    else if (instruction?.op === 'split') pending.push(instruction.second, instruction.first)
    else if (instruction?.op === 'assert' && holds(instruction.what, text, offset)) pending.push(state + 1)
  }
}

function holds(what: Assertion, text: string, offset: number): boolean {
  if (what === 'start') return offset === 0
  if (what === 'end') return offset === text.length
  const isBoundary = isWord(text.charCodeAt(offset - 1)) !== isWord(text.charCodeAt(offset))
  return isBoundary === (what === 'word-boundary')
}

function isWord(code: number): boolean {
  return (
    (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122)
  )
}

function accepts(set: { ranges: readonly Range[]; negated: boolean }, codes: readonly number[]): boolean {
  return codes.some((code) => contains(set.ranges, code)) !== set.negated
}

function contains(ranges: readonly Range[], code: number): boolean {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >> 1
    const range = ranges[middle]
    if (!range || code < range[0]) high = middle
    else if (code > range[1]) low = middle + 1
    else return true
  }
  return false
}

/** Sorts and merges ranges for the binary search. */
function orderRanges(ranges: readonly Range[]): Range[] {
  const ordered: Range[] = []
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = ordered.at(-1)
    if (last && from <= last[1] + 1) ordered[ordered.length - 1] = [last[0], Math.max(last[1], to)]
    else ordered.push([from, to])
  }
  return ordered
}

function everyCase(code: number): number[] {
  const character = String.fromCodePoint(code)
  const others = [character.toLowerCase(), character.toUpperCase()].flatMap((other) => {
    const [only, more] = Array.from(other)
    return only !== undefined && more === undefined ? [only.codePointAt(0) ?? code] : []
  })
  return [code, ...others]
}

/** The number of instructions of the expression. */
function sizeOf(node: RegexNode): number {
  switch (node.kind) {
    case 'empty':
      return 0
    case 'set':
    case 'assert':
      return 1
    case 'sequence':
      return node.items.reduce((size, item) => size + sizeOf(item), 0)
    case 'choice':
      return node.options.reduce((size, option) => size + sizeOf(option) + 2, 0)
    case 'repeat':
      return sizeOfRepeat(node)
  }
}

function sizeOfRepeat({ item, min, max }: RegexNode & { kind: 'repeat' }): number {
  // Repeating nothing counts too: it is no instruction, but it is work.
  const size = Math.max(1, sizeOf(item))
  return min * size + (max === null ? size + 2 : (max - min) * (size + 1))
}

function emit(node: RegexNode, program: Instruction[]): void {
  switch (node.kind) {
    case 'empty':
      return
    case 'set':
      program.push({ op: 'set', ranges: orderRanges(node.ranges), negated: node.negated })
      return
    case 'assert':
      program.push({ op: 'assert', what: node.what })
      return
    case 'sequence':
      for (const item of node.items) emit(item, program)
      return
    case 'choice':
      emitChoice(node.options, program)
      return
    case 'repeat':
      emitRepeat(node, program)
  }
}

function emitChoice(options: readonly RegexNode[], program: Instruction[]): void {
  const exits: number[] = []
  for (const [index, option] of options.entries()) {
    const isLast = index === options.length - 1
    const split = isLast ? null : reserve(program)
    emit(option, program)
    if (split === null) break
    exits.push(reserve(program))
    program[split] = { op: 'split', first: split + 1, second: program.length }
  }
  for (const exit of exits) program[exit] = { op: 'jump', to: program.length }
}

function emitRepeat(node: RegexNode & { kind: 'repeat' }, program: Instruction[]): void {
  for (let count = 0; count < node.min; count += 1) emit(node.item, program)
  if (node.max === null) {
    const split = reserve(program)
    emit(node.item, program)
    program.push({ op: 'jump', to: split })
    program[split] = { op: 'split', first: split + 1, second: program.length }
    return
  }
  const splits: number[] = []
  for (let count = node.min; count < node.max; count += 1) {
    splits.push(reserve(program))
    emit(node.item, program)
  }
  for (const split of splits) program[split] = { op: 'split', first: split + 1, second: program.length }
}

function reserve(program: Instruction[]): number {
  return program.push({ op: 'jump', to: program.length + 1 }) - 1
}
