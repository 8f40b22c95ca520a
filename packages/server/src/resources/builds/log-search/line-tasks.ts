// Searches rows for threads, and returns the text around the matches. A task ends after its time, and another goes on from there.
import { gunzipSync } from 'node:zlib'
import { plainText } from '../log/screen/plain-text.ts'
import { finderOf, type Finder, type Query } from '../log/rows/search-tasks.ts'
import { Replay, type ReplayState } from '../log/rows/replay.ts'
import type { Segment } from '../log/rows/row-tasks.ts'
import type { Block } from '../log/rows/rows-object.ts'
import { textOf, textOfJson, type RowJson } from '../log/screen/row.ts'

export interface FoundRow {
  row: number
  text: string
  start: number
  end: number
}

export interface Limits {
  query: Query
  /** How many rows with a match are returned; the search of the log ends there. */
  room: number
  /** The first row to search. */
  from: number
  mostMs: number
}

export interface FoundRows {
  rows: FoundRow[]
  /** The first row that was not searched, because the time was used up. null: none, or there was no more room. */
  next: number | null
  usedMs: number
}

const rowsPerReading = 64
const mostShown = 500
const shownBefore = 100

class LineSearch {
  readonly #rows: FoundRow[] = []
  readonly #startMs = performance.now()
  readonly #limits: Limits
  readonly #find: Finder
  #seen = 0
  #isLate = false
  #next: number | null = null

  constructor(limits: Limits) {
    this.#limits = limits
    this.#find = finderOf(limits.query)
  }

  get isOver(): boolean {
    return this.#next !== null || this.#isFull
  }

  get #isFull(): boolean {
    return this.#rows.length >= this.#limits.room
  }

  add(text: string, row: number): void {
    if (row < this.#limits.from || this.#isFull) return
    if (this.#isLate) {
      this.#next ??= row
      return
    }
    let isFound = false
    this.#find(text, (start, end) => {
      if (!isFound) this.#rows.push({ row, ...around(text, start, end) })
      isFound = true
    })
    if (++this.#seen % rowsPerReading === 0) this.#isLate = this.#usedMs() > this.#limits.mostMs
  }

  get found(): FoundRows {
    return { rows: this.#rows, next: this.#isFull ? null : this.#next, usedMs: this.#usedMs() }
  }

  #usedMs(): number {
    return performance.now() - this.#startMs
  }
}

/** The part of a row around a match, without control characters. */
function around(text: string, start: number, end: number): Omit<FoundRow, 'row'> {
  const first =
    text.length <= mostShown ? 0 : Math.max(0, Math.min(start - shownBefore, text.length - mostShown))
  const last = Math.min(text.length, first + mostShown)
  const before = plainText(text.slice(first, start))
  const match = plainText(text.slice(start, Math.min(end, last)))
  const after = plainText(text.slice(Math.min(end, last), last)).trimEnd()
  const [head, tail] = [first > 0 ? '…' : '', last < text.length ? '…' : '']
  const begins = head.length + before.length
  return { text: `${head}${before}${match}${after}${tail}`, start: begins, end: begins + match.length }
}

/** The rows of a stored log. */
export function searchBlockLines({ blocks, ...limits }: Limits & { blocks: readonly Block[] }): FoundRows {
  const search = new LineSearch(limits)
  for (const { gzip, firstRow } of blocks) {
    if (search.isOver) break
    const rows = JSON.parse(`[${gunzipSync(gzip).toString().replaceAll('\n', ',')}]`) as RowJson[]
    for (const [index, row] of rows.entries()) search.add(textOfJson(row), firstRow + index)
  }
  return search.found
}

/** The rows of a log that is still in chunks. */
export function searchSegmentLines({
  segment,
  ...limits
}: Limits & { segment: Segment }): FoundRows & { state: ReplayState } {
  const search = new LineSearch(limits)
  const replay = new Replay(segment.state, (row, number) => search.add(textOf(row), number))
  replay.write(segment.bytes, segment.isLast && segment.isFinal)
  const { state } = replay
  if (segment.isLast) replay.end()
  return { ...search.found, state }
}

/** Lines that are known by their rows. */
export function searchTexts({
  query,
  texts,
  most,
}: {
  query: Query
  texts: ReadonlyArray<{ text: string; rows: readonly number[] }>
  most: number
}): FoundRow[][] {
  const find = finderOf(query)
  return texts.map(({ text, rows }) => {
    const found: FoundRow[] = []
    for (const [index, line] of text.split('\n').entries()) {
      if (found.length >= most) break
      let isFound = false
      find(line, (start, end) => {
        if (!isFound) found.push({ row: rows[index] ?? 1, ...around(line, start, end) })
        isFound = true
      })
    }
    return found
  })
}
