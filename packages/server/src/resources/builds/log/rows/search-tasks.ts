// Searches rows, for threads. RE2 matches in time proportional to the text.
import { gunzipSync } from 'node:zlib'
import { RE2JS, RE2JSException } from 're2js'
import { badRequest } from '../../../../lib/errors.ts'
import { Replay, type ReplayState } from './replay.ts'
import { textOf, textOfJson, type RowJson } from '../screen/row.ts'
import type { Segment } from './row-tasks.ts'
import type { Block } from './rows-object.ts'

export interface Limits {
  query: Query
  /** How many matches are returned. All are counted. */
  room: number
  /** The first row to search. */
  from: number
  mostMs: number
}

export interface Query {
  text: string
  isRegex: boolean
  isCaseSensitive: boolean
}

export interface Found {
  total: number
  matches: Array<[row: number, start: number, end: number]>
  /** The first row that was not searched, because the time was used up. null: all were. */
  next: number | null
  /** The last row that was searched; 0 if none was. */
  lastRow: number
  usedMs: number
}

/** Rows between two readings of the clock. */
const rowsPerReading = 64

class Search {
  readonly #matches: Found['matches'] = []
  #total = 0
  #rows = 0
  #isOver = false
  next: number | null = null
  #lastRow = 0
  readonly #startMs = performance.now()
  readonly #limits: Limits
  readonly #find: Finder

  constructor(limits: Limits) {
    this.#limits = limits
    this.#find = finderOf(limits.query)
  }

  add(text: string, row: number): void {
    if (row < this.#limits.from) return
    if (this.#isOver) {
      this.next ??= row
      return
    }
    this.#lastRow = row
    this.#find(text, (start, end) => {
      this.#total++
      if (this.#matches.length < this.#limits.room) this.#matches.push([row, start, end])
    })
    if (++this.#rows % rowsPerReading === 0) this.#isOver = this.#usedMs() > this.#limits.mostMs
  }

  get found(): Found {
    return {
      total: this.#total,
      matches: this.#matches,
      next: this.next,
      lastRow: this.#lastRow,
      usedMs: this.#usedMs(),
    }
  }

  #usedMs(): number {
    return performance.now() - this.#startMs
  }
}

/** The rows that settle in this segment, and if it is the last one, all that follow. */
export function searchSegment({
  segment,
  ...limits
}: Limits & { segment: Segment }): Found & { state: ReplayState } {
  const search = new Search(limits)
  const replay = new Replay(segment.state, (row, number) => search.add(textOf(row), number))
  replay.write(segment.bytes, segment.isLast && segment.isFinal)
  const { state } = replay
  if (segment.isLast) replay.end()
  return { ...search.found, state }
}

export function searchBlocks({ blocks, ...limits }: Limits & { blocks: readonly Block[] }): Found {
  const search = new Search(limits)
  for (const { gzip, firstRow } of blocks) {
    if (search.next !== null) break
    const rows = JSON.parse(`[${gunzipSync(gzip).toString().replaceAll('\n', ',')}]`) as RowJson[]
    for (const [index, row] of rows.entries()) search.add(textOfJson(row), firstRow + index)
  }
  return search.found
}

export type Finder = (text: string, found: (start: number, end: number) => void) => void

export function finderOf({ text: wanted, isRegex, isCaseSensitive }: Query): Finder {
  if (isRegex) return regexFinder(wanted, isCaseSensitive)
  if (!isCaseSensitive) return ignoringCase(wanted)
  return (text, found) => {
    for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length))
      found(at, at + wanted.length)
  }
}

function ignoringCase(wanted: string): Finder {
  const literal = new RegExp(wanted.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'giu')
  return (text, found) => {
    for (const match of text.matchAll(literal)) found(match.index, match.index + match[0].length)
  }
}

/** Empty matches do not count. */
function regexFinder(source: string, isCaseSensitive: boolean): Finder {
  const regex = compile(source, isCaseSensitive)
  return (text, found) => {
    const matcher = regex.matcher(text)
    while (matcher.find()) if (matcher.end() > matcher.start()) found(matcher.start(), matcher.end())
  }
}

function compile(source: string, isCaseSensitive: boolean): RE2JS {
  try {
    return RE2JS.compile(source, isCaseSensitive ? 0 : RE2JS.CASE_INSENSITIVE)
  } catch (error) {
    if (error instanceof RE2JSException)
      throw badRequest(`The regular expression is not valid: ${error.message}.`)
    throw error
  }
}
