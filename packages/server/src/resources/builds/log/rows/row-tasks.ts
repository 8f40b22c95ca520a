// Work on the rows of a log that takes long, for threads. A log is sent in segments, since a thread gets copies.
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { Sketch } from '../findings/sketch.ts'
import { TellingRowsFinder, type TellingRows } from '../findings/telling-lines.ts'
import type { Group, OutlineEnd } from './outline.ts'
import { Replay, type ReplayState } from './replay.ts'
import { rowJson, textOf, type Row } from '../screen/row.ts'

export interface Segment {
  /** null: the log begins here. */
  state: ReplayState | null
  bytes: Uint8Array
  /** There are no bytes after these as of now. */
  isLast: boolean
  /** The log does not grow any more. */
  isFinal: boolean
}

export type Wanted =
  | { kind: 'range'; from: number; to: number; mostCharacters: number }
  | { kind: 'tail'; limit: number; mostCharacters: number }

export const nothing: Wanted = { kind: 'range', from: 1, to: 0, mostCharacters: 0 }

interface SegmentRows {
  state: ReplayState
  /** Groups that began in settled rows of this segment. */
  groups: Group[]
  /** The wanted rows as JSON: those that were settled in this segment, and if it is the last one, all that follow. */
  rows: string[]
  /** null unless this is the last segment. Its groups began in this segment, also in rows that may change. */
  end: { total: number; groups: Group[]; outline: OutlineEnd } | null
}

export function readSegment({ segment, wanted }: { segment: Segment; wanted: Wanted }): SegmentRows {
  const rows = collector(wanted)
  const replay = new Replay(segment.state, (row, number) => rows.add(row, number))
  replay.write(segment.bytes, segment.isLast && segment.isFinal)
  const { state } = replay
  const common = { state, groups: replay.outline.groups }
  if (!segment.isLast) return { ...common, rows: rows.taken(), end: null }
  const { open } = replay
  for (const [index, row] of open.entries()) rows.add(row, state.rows + index + 1)
  const outline = replay.outlineAtEnd
  const end = { total: state.rows + open.length, groups: outline.groups, outline: outline.end }
  return { ...common, rows: rows.taken(), end }
}

interface Collector {
  add(row: Row, number: number): void
  taken(): string[]
}

function collector(wanted: Wanted): Collector {
  let rows: string[] = []
  let characters = 0
  const add = (row: Row) => {
    const json = rowJson(row)
    rows.push(json)
    characters += json.length
  }
  switch (wanted.kind) {
    case 'range':
      return {
        add(row, number) {
          const isFull = rows.length > 0 && characters >= wanted.mostCharacters
          if (number >= wanted.from && number <= wanted.to && !isFull) add(row)
        },
        taken: () => rows,
      }
    case 'tail':
      return {
        add(row) {
          add(row)
          if (rows.length < 2 * wanted.limit && characters < 2 * wanted.mostCharacters) return
          rows = lastRows(rows, wanted)
          characters = rows.reduce((sum, json) => sum + json.length, 0)
        },
        taken: () => lastRows(rows, wanted),
      }
  }
}

/** As many of the last rows as a tail may have. */
export function lastRows(rows: string[], { limit, mostCharacters }: Wanted & { kind: 'tail' }): string[] {
  let start = rows.length
  let characters = 0
  while (start > 0 && rows.length - start < limit && characters < mostCharacters)
    characters += rows[--start]?.length ?? 0
  return start === 0 ? rows : rows.slice(start)
}

export interface FollowedRows {
  state: ReplayState
  /** From here on the log is this. null: nothing has changed. */
  changed: { from: number; rows: string[] } | null
  /** Hashes of the rows that may still change. */
  open: string[]
  total: number
}

/** `open` are the hashes of the rows after the settled ones of the segment's state, as the reader knows them. */
export function followSegment({
  segment,
  open,
}: {
  segment: Segment
  open: readonly string[]
}): FollowedRows {
  const first = (segment.state?.rows ?? 0) + 1
  const rows: string[] = []
  const replay = new Replay(segment.state, (row) => rows.push(rowJson(row)))
  replay.write(segment.bytes, segment.isLast && segment.isFinal)
  const { state } = replay
  const last = segment.isLast ? replay.open.map(rowJson) : []
  rows.push(...last)
  let same = 0
  while (same < rows.length && same < open.length && open[same] === hash(rows[same] ?? '')) same++
  // The next segment tells whether the rows after the settled ones have changed.
  const isUndecided = !segment.isLast && same === rows.length
  const hasChanged = !isUndecided && (same < rows.length || same < open.length)
  return {
    state,
    changed: hasChanged ? { from: first + same, rows: rows.slice(same) } : null,
    open: isUndecided ? open.slice(same) : last.map(hash),
    total: state.rows + last.length,
  }
}

const hash = (json: string) => createHash('sha1').update(json).digest('base64').slice(0, 16)

const mostBlockRows = 512
const mostBlockCharacters = 256 * 1024

interface Blocks {
  state: ReplayState
  groups: Group[]
  /** gzip members, one after the other. Each holds rows as JSON, one a line. */
  bytes: Uint8Array
  /** For each block where it begins in `bytes`, and the number of its first row. */
  table: number[]
  rows: number
  /** As if the log ended with these rows. */
  outline: OutlineEnd
  /** Of the largest size. */
  sketch: Uint8Array
  /** null: the job has not failed. */
  telling: TellingRows | null
}

interface BlocksWanted {
  segment: Segment
  /** null: the job has not failed. Else whether the segment before ended in an open group. */
  telling: { isOpen: boolean } | null
}

export function makeBlocks({ segment, telling }: BlocksWanted): Blocks {
  const sketch = new Sketch()
  const finder = telling === null ? null : new TellingRowsFinder(telling.isOpen)
  const blocks: Buffer[] = []
  const table: number[] = []
  let size = 0
  let rows: string[] = []
  let characters = 0
  let firstRow = 0
  const close = () => {
    if (rows.length === 0) return
    const block = gzipSync(rows.join('\n'), { level: 1 })
    table.push(size, firstRow)
    blocks.push(block)
    size += block.length
    rows = []
    characters = 0
  }
  const replay = new Replay(segment.state, (row, number) => {
    const json = rowJson(row)
    sketch.add(textOf(row))
    finder?.push(number, row)
    if (rows.length === 0) firstRow = number
    rows.push(json)
    characters += json.length
    if (rows.length === mostBlockRows || characters >= mostBlockCharacters) close()
  })
  replay.write(segment.bytes, segment.isLast)
  if (segment.isLast) replay.end()
  close()
  return {
    state: replay.state,
    groups: replay.outline.groups,
    bytes: Buffer.concat(blocks),
    table,
    rows: replay.settledRows,
    outline: replay.outline.end,
    sketch: sketch.bits,
    telling: finder?.found ?? null,
  }
}

interface TellingFound {
  state: ReplayState
  /** As if the log ended with these rows. */
  outline: OutlineEnd
  telling: TellingRows
}

/** What a failed job says, without its blocks. `isOpen`: whether the segment before ended in an open group. */
export function findTelling({ segment, isOpen }: { segment: Segment; isOpen: boolean }): TellingFound {
  const finder = new TellingRowsFinder(isOpen)
  const replay = new Replay(segment.state, (row, number) => finder.push(number, row))
  replay.write(segment.bytes, segment.isLast)
  if (segment.isLast) replay.end()
  return { state: replay.state, outline: replay.outline.end, telling: finder.found }
}
