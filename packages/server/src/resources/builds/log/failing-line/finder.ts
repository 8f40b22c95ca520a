// Finds the row that shows why a job failed. Pages, failure summaries, the command line and MCP all show the row found here.
//
// The rows of a log pass once, in order. What is kept does not grow with the log, and it is JSON, so that a log can be read in
// segments by different threads.
//
// Every tool has its own way to say what went wrong. families/ has a table of these: for each tool the rows by which a failure
// begins, which of the rows after it a person would point at, and a weight that says how surely. The general rules in
// ordinary.ts are for programs that are in no table: a row that begins with "error:" weighs more than one with the word in a
// sentence, and that more than a red one. Commands that are only repeated, counts of zero, and names such as `thiserror`
// weigh nothing.
//
// The rows of one tool make a block, which is known by its heaviest row; of equal ones by the first, since later failures often
// follow from it. A block is over when its tool says how it ended, "2 failed, 8 passed". Failures after that are a new block.
// If it ended with a success, the failures before it ended no job.
//
// A later block takes the place of an earlier one if it is heavier, or nearly as heavy and begins when the earlier is over or
// long past: a script goes on after a failure that it does not mind. Rows that only say that another program failed, such as
// "make: *** [all] Error 2", weigh least, so they never take the place of a cause.
//
// Only one section of the log counts: that in which the command ended, which agents mark. If nothing in it weighs as much as a
// complaint, the heaviest block of the sections before it counts, since scripts begin a section to clean up. Nothing after the
// agent's own report of the failure counts, which are hooks and uploads.
import { expressionsOf, families, findFamily } from './families.ts'
import { weights, type Family } from './family.ts'
import { echo, general, harmless, hasCue, prefix, scriptName, success, zeroCount } from './ordinary.ts'

/** The failures that one tool reported, one after the other. */
interface Block {
  row: number
  weight: number
  first: number
  last: number
  isOver: boolean
}

interface Choice {
  row: number
  weight: number
}

interface Awaited {
  family: string
  shape: number
  /** The row that begins the failure. */
  from: number
  until: number
}

export interface FinderState {
  /** Of the section that the next row belongs to. */
  blocks: Record<string, Block>
  /** By the family, the row before a failure that may show its cause. */
  remembered: Record<string, number>
  awaited: Awaited[]
  /** Of the last row that was in the table. */
  family: string | null
  /** The last row with output; without output, the section's header. */
  last: number | null
  hasOutput: boolean
  /** The agent's report that the command failed. */
  report: number | null
  /** An agent has marked this section. */
  isMarked: boolean
  /** The last row was the mark. */
  isAfterMark: boolean
  /** The next row is the command of an npm script. */
  isScript: boolean
  /** Of the sections before. */
  before: Choice | null
  /** Of the last marked section. */
  marked: Choice | null
  /** Nothing that follows counts. */
  decided: Choice | null
}

/** The rest of a longer row is not looked at. */
const mostCharacters = 400
/** A block that is so many rows back is long past. */
const longPast = 30

const nothing: FinderState = {
  blocks: {},
  remembered: {},
  awaited: [],
  family: null,
  last: null,
  hasOutput: false,
  report: null,
  isMarked: false,
  isAfterMark: false,
  isScript: false,
  before: null,
  marked: null,
  decided: null,
}

/** Agents write it after the output of a failed command or hook. */
const report = /^(?:🚨 )?(?:Error: .*|The command exited with status -?\d+|Refused: .*)$/

/** It does not say why. */
const onlyStatus = /(?:ended|exited) with status -?\d+$/

const familyNamed = new Map([...families, general].map((family) => [family.name, family]))

export class FailingLineFinder {
  #state: FinderState

  constructor(state: FinderState = nothing) {
    this.#state = structuredClone(state)
  }

  get state(): FinderState {
    return this.#state
  }

  /** A section begins with the row of this number. */
  beginSection(number: number): void {
    const { decided, isMarked, marked, before } = this.#state
    if (decided !== null) return
    const chosen = this.#choose()
    this.#state = {
      ...structuredClone(nothing),
      last: number,
      before: isMarked ? before : heavier(before, chosen),
      marked: isMarked ? (atLeastComplaint(chosen) ?? before ?? chosen) : marked,
    }
  }

  /** An agent marks the section as the one that failed. */
  mark(): void {
    this.#state.isMarked = true
    this.#state.isAfterMark = true
  }

  push(number: number, whole: string, isRed: boolean): void {
    const state = this.#state
    if (state.decided !== null) return
    const text = whole.length > mostCharacters ? whole.slice(0, mostCharacters) : whole
    const { isAfterMark, isScript } = state
    state.isAfterMark = false
    state.isScript = scriptName.test(text)
    if (echo.test(text) || (isScript && text.startsWith('> '))) return
    if (isAfterMark && report.test(text)) return this.#decide(number, text)
    state.last = number
    state.hasOutput = true
    if (state.awaited.length > 0 && this.#await(number, text)) return
    if (hasCue(text) && !success.test(text)) this.#read(number, text, isRed)
    else if (isRed) this.#add(general, number, weights.red)
  }

  /** The row, if the log ends here. */
  get row(): number | null {
    const { decided, marked, isMarked, before } = this.#state
    if (decided !== null) return decided.row
    const chosen = this.#choose()
    const here = isMarked ? chosen : (marked ?? chosen)
    return (atLeastComplaint(here) ?? atLeastComplaint(before) ?? here)?.row ?? null
  }

  #read(number: number, whole: string, isRed: boolean): void {
    const start = prefix.exec(whole)?.[0].length ?? 0
    const text = start === 0 ? whole : whole.slice(start)
    const family = this.#familyOf(text)
    if (family !== null) return this.#match(family, number, text)
    if (harmless.test(text) || zeroCount.test(text)) return
    if (general.shapes.some(({ begins }) => begins.test(text))) this.#match(general, number, text)
    else if (isRed) this.#add(general, number, weights.red)
  }

  /** Of the tool that wrote the last such row, if it fits. */
  #familyOf(text: string): Family | null {
    const state = this.#state
    const last = familyNamed.get(state.family ?? '')
    if (last !== undefined && expressionsOf(last).some((expression) => expression.test(text))) return last
    const family = findFamily(text)
    if (family !== null) state.family = family.name
    return family
  }

  #match(family: Family, number: number, text: string): void {
    const { blocks, remembered } = this.#state
    const { name, shapes, remembers, fails, passes } = family
    const index = shapes.findIndex(({ begins }) => begins.test(text))
    const shape = shapes[index]
    const block = blocks[name]
    if (shape !== undefined) this.#fail(family, index, number)
    else if (remembers?.cause.test(text) === true) remembered[name] ??= number
    else if (fails?.test(text) === true) {
      if (block === undefined) this.#add(family, number, weights.summary)
      else if (!block.isOver) block.last = number
      end(blocks[name])
    } else if (passes?.test(text) === true && block !== undefined) {
      block.weight = Math.min(block.weight, weights.summary)
      end(block)
    }
    if (shape !== undefined || remembers?.forgets.test(text) === true) delete remembered[name]
  }

  #fail(family: Family, index: number, number: number): void {
    const shape = family.shapes[index]
    if (shape === undefined) return
    const back = shape.pointsBack === true ? this.#state.remembered[family.name] : undefined
    const isNew = this.#add(family, back ?? number, shape.weight)
    if (isNew && back === undefined && shape.points !== undefined)
      this.#state.awaited = [
        ...this.#state.awaited.filter((awaited) => awaited.family !== family.name),
        { family: family.name, shape: index, from: number, until: number + (shape.within ?? 1) },
      ]
  }

  /** True if the block is now known by this row. */
  #add({ name, gap }: Family, number: number, weight: number): boolean {
    const { blocks } = this.#state
    const block = blocks[name]
    const isPast = block !== undefined && !block.isOver && gap !== undefined && number - block.last > gap
    if (
      block === undefined ||
      (block.isOver && weight >= weights.exception) ||
      (isPast && weight >= Math.min(weights.complaint, block.weight))
    ) {
      blocks[name] = { row: number, weight, first: number, last: number, isOver: false }
      return true
    }
    block.last = number
    if (weight <= block.weight) return false
    block.row = number
    block.weight = weight
    return true
  }

  /** True if the row is one that a failure before it points at. */
  #await(number: number, text: string): boolean {
    let isFound = false
    const { awaited, blocks } = this.#state
    const left = awaited.filter(({ family, shape, from, until }) => {
      if (number > until) return false
      const points = familyNamed.get(family)?.shapes[shape]?.points
      if (points?.test(text) !== true) return true
      const block = blocks[family]
      if (block?.row === from) {
        block.row = number
        isFound = true
      }
      return false
    })
    this.#state.awaited = left
    return isFound
  }

  #decide(number: number, text: string): void {
    this.#state.report = number
    if (!this.#state.hasOutput) this.#state.last = null
    this.#add(general, number, onlyStatus.test(text) ? weights.epilogue : weights.complaint)
    const chosen = this.#choose()
    this.#state.decided = atLeastComplaint(chosen) ?? atLeastComplaint(this.#state.before) ?? chosen
  }

  #choose(): Choice | null {
    const { blocks, last, report: reported } = this.#state
    const [first, ...later] = Object.values(blocks).sort((a, b) => a.first - b.first)
    const fallback = last ?? reported
    if (first === undefined) return fallback === null ? null : { row: fallback, weight: 0 }
    const best = later.reduce((chosen, block) => (takesPlace(block, chosen) ? block : chosen), first)
    if (best.weight <= weights.epilogue && fallback !== null && best.row === reported)
      return { row: fallback, weight: 0 }
    return { row: best.row, weight: best.weight }
  }
}

function takesPlace(block: Block, before: Block): boolean {
  if (block.weight > before.weight) return true
  const isNext = before.isOver ? block.first > before.last : block.first - before.last > longPast
  return isNext && block.weight >= weights.symptom && block.weight >= before.weight - 1
}

function end(block: Block | undefined): void {
  if (block !== undefined) block.isOver = true
}

const heavier = (before: Choice | null, after: Choice | null): Choice | null =>
  before === null || (after !== null && after.weight >= before.weight) ? after : before

const atLeastComplaint = (choice: Choice | null): Choice | null =>
  choice !== null && choice.weight >= weights.complaint ? choice : null
