// The rows of a log that is still in chunks. They are replayed from the last checkpoint before them.
import type { Context } from '../../../../context.ts'
import { SizedCache } from '../../../../lib/sized-cache.ts'
import { findCheckpointBefore, findLastCheckpoint, listGroups } from './checkpoint-queries.ts'
import { addCheckpoints } from './checkpoints.ts'
import { Outline, summarize, type Group, type OutlineEnd } from './outline.ts'
import type { ReplayState } from './replay.ts'
import { lastRows, type readSegment, type Wanted } from './row-tasks.ts'
import { mostPageCharacters, type RowPage, type RowSource } from './rows.ts'
import { searchGrowing } from './search.ts'
import { replaySegments, runRowTask } from './segments.ts'
import type { Log } from '../source.ts'

/** Numbers of rows by job, as of a size of the log. */
const totals = new SizedCache<string, { size: number; total: number }>(1000)

export function growingRows(ctx: Context, orgId: string, jobId: string, log: Log): RowSource {
  const lastCheckpoint = async () => {
    await addCheckpoints(ctx, orgId, jobId, log)
    return findLastCheckpoint(ctx.db, orgId, jobId)
  }
  const note = (total: number) => {
    totals.set(jobId, { size: log.size, total }, 1)
    return total
  }
  const countRows = async () => {
    const known = totals.get(jobId)
    if (known?.size === log.size) return known.total
    return note((await readToEnd(log, await lastCheckpoint(), nothing)).total)
  }
  const page = async (from: number, limit: number): Promise<RowPage> => {
    await addCheckpoints(ctx, orgId, jobId, log)
    const start = await findCheckpointBefore(ctx.db, orgId, jobId, from)
    const { rows, total } = await readRange(log, start, { from, to: from + limit - 1 })
    return { from, total: total === null ? await countRows() : note(total), rows }
  }
  return {
    log,
    page,
    async tail(limit) {
      const wanted: Wanted = { kind: 'tail', limit, mostCharacters: mostPageCharacters }
      const last = await readToEnd(log, await lastCheckpoint(), wanted)
      const { total } = last
      note(total)
      const from = Math.max(total - limit + 1, 1)
      const isEnough =
        last.rows.length === total - from + 1 || countCharacters(last.rows) >= mostPageCharacters
      const start = isEnough ? null : await findCheckpointBefore(ctx.db, orgId, jobId, from)
      const rows = isEnough ? last.rows : (await readToEnd(log, start, wanted)).rows
      return { from: total - rows.length + 1, total, rows }
    },
    async outline() {
      const start = await lastCheckpoint()
      const before = start === null ? [] : await listGroups(ctx.db, orgId, jobId, start.offset)
      const { groups, end, total } = await readToEnd(log, start, nothing)
      return { total: note(total), outline: summarize([...before, ...groups], end) }
    },
    search: (query) => searchGrowing(log, query),
  }
}

const nothing: Wanted = { kind: 'none' }

interface EndOfLog {
  /** The groups that began after the start. */
  groups: Group[]
  end: OutlineEnd
  total: number
  /** Of a tail: its rows, as far as they are after the start. */
  rows: string[]
}

async function readToEnd(log: Log, start: ReplayState | null, wanted: Wanted): Promise<EndOfLog> {
  const groups: Group[] = []
  let rows: string[] = []
  let total = 0
  let end = new Outline().end
  for await (const read of readSegments(log, start, () => wanted)) {
    if (wanted.kind === 'tail') rows = lastRows([...rows, ...read.rows], wanted)
    groups.push(...(read.end?.groups ?? read.groups))
    if (read.end !== null) ({ total, outline: end } = read.end)
  }
  return { groups, end, total, rows }
}

/** `total` is known only if the range reaches the last segment. */
async function readRange(
  log: Log,
  start: ReplayState | null,
  { from, to }: { from: number; to: number },
): Promise<{ rows: string[]; total: number | null }> {
  const rows: string[] = []
  let characters = 0
  const wanted = (): Wanted => ({ kind: 'range', from, to, mostCharacters: mostPageCharacters - characters })
  for await (const read of readSegments(log, start, wanted)) {
    rows.push(...read.rows)
    characters += countCharacters(read.rows)
    if (read.end !== null) return { rows, total: read.end.total }
    if (read.state.rows >= to || characters >= mostPageCharacters) break
  }
  return { rows, total: null }
}

const readSegments = (log: Log, start: ReplayState | null, wanted: () => Wanted) =>
  replaySegments(log, start, (segment) =>
    runRowTask<typeof readSegment>('readSegment', { segment, wanted: wanted() }),
  )

const countCharacters = (rows: readonly string[]) => rows.reduce((sum, row) => sum + row.length, 0)
