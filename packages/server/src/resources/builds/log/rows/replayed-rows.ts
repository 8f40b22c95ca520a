// Makes rows of the bytes of a log, from a state on.
import type { Place } from '../../../../lib/threads.ts'
import type { Log } from '../source.ts'
import { Outline, summarize, type Group, type OutlineEnd } from './outline.ts'
import type { ReplayState } from './replay.ts'
import { lastRows, nothing, type readSegment, type Wanted } from './row-tasks.ts'
import { countCharacters, mostPageCharacters, type RowReader } from './row-source.ts'
import { replaySegments, runRowTask } from './segments.ts'

/** For a log without stored rows or checkpoints. */
export const replayedRows = (log: Log, place: Place): RowReader => ({
  all: () => readAll(log, place),
  async outline() {
    const { total, groups, end } = await readToEnd(log, place, null, nothing)
    return { total, outline: summarize(groups, end) }
  },
})

export async function* readAll(log: Log, place: Place): AsyncGenerator<string[]> {
  const wanted: Wanted = { kind: 'range', from: 1, to: Infinity, mostCharacters: Infinity }
  for await (const { rows } of readSegments(log, place, null, () => wanted)) yield rows
}

interface EndOfLog {
  /** The groups that began after the start. */
  groups: Group[]
  end: OutlineEnd
  total: number
  /** Of a tail: its rows, as far as they are after the start. */
  rows: string[]
}

export async function readToEnd(
  log: Log,
  place: Place,
  start: ReplayState | null,
  wanted: Wanted,
): Promise<EndOfLog> {
  const groups: Group[] = []
  let rows: string[] = []
  let total = 0
  let end = new Outline().end
  for await (const read of readSegments(log, place, start, () => wanted)) {
    if (wanted.kind === 'tail') rows = lastRows([...rows, ...read.rows], wanted)
    groups.push(...(read.end?.groups ?? read.groups))
    if (read.end !== null) ({ total, outline: end } = read.end)
  }
  return { groups, end, total, rows }
}

/** `total` is known only if the range reaches the last segment. */
export async function readRange(
  log: Log,
  place: Place,
  start: ReplayState | null,
  { from, to }: { from: number; to: number },
): Promise<{ rows: string[]; total: number | null }> {
  const rows: string[] = []
  let characters = 0
  const wanted = (): Wanted => ({ kind: 'range', from, to, mostCharacters: mostPageCharacters - characters })
  for await (const read of readSegments(log, place, start, wanted)) {
    rows.push(...read.rows)
    characters += countCharacters(read.rows)
    if (read.end !== null) return { rows, total: read.end.total }
    if (read.state.rows >= to || characters >= mostPageCharacters) break
  }
  return { rows, total: null }
}

const readSegments = (log: Log, place: Place, start: ReplayState | null, wanted: () => Wanted) =>
  replaySegments(log, start, (segment) =>
    runRowTask<typeof readSegment>(place, 'readSegment', { segment, wanted: wanted() }),
  )
