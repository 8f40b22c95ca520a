// The rows of a log that is still in chunks. They are replayed from the last checkpoint before them.
import type { Context } from '../../../../context.ts'
import { SizedCache } from '../../../../lib/sized-cache.ts'
import type { Place } from '../../../../lib/threads.ts'
import type { Log } from '../source.ts'
import { findCheckpointBefore, findLastCheckpoint, listGroups } from './checkpoint-queries.ts'
import { addCheckpoints } from './checkpoints.ts'
import { summarize } from './outline.ts'
import { readAll, readRange, readToEnd } from './replayed-rows.ts'
import { nothing, type Wanted } from './row-tasks.ts'
import { countCharacters, mostPageCharacters, type RowPage, type RowSource } from './row-source.ts'

/** Numbers of rows by job, as of a size of the log. */
const totals = new SizedCache<string, { size: number; total: number }>(1000)

export function growingRows(ctx: Context, orgId: string, jobId: string, log: Log, place: Place): RowSource {
  const lastCheckpoint = async () => {
    await addCheckpoints(ctx, orgId, jobId, log, place)
    return findLastCheckpoint(ctx.db, orgId, jobId)
  }
  const note = (total: number) => {
    totals.set(jobId, { size: log.size, total }, 1)
    return total
  }
  const countRows = async () => {
    const known = totals.get(jobId)
    if (known?.size === log.size) return known.total
    return note((await readToEnd(log, place, await lastCheckpoint(), nothing)).total)
  }
  const page = async (from: number, limit: number): Promise<RowPage> => {
    await addCheckpoints(ctx, orgId, jobId, log, place)
    const start = await findCheckpointBefore(ctx.db, orgId, jobId, from)
    const { rows, total } = await readRange(log, place, start, { from, to: from + limit - 1 })
    return { from, total: total === null ? await countRows() : note(total), rows }
  }
  return {
    log,
    page,
    async tail(limit) {
      const wanted: Wanted = { kind: 'tail', limit, mostCharacters: mostPageCharacters }
      const last = await readToEnd(log, place, await lastCheckpoint(), wanted)
      const { total } = last
      note(total)
      const from = Math.max(total - limit + 1, 1)
      const isEnough =
        last.rows.length === total - from + 1 || countCharacters(last.rows) >= mostPageCharacters
      const start = isEnough ? null : await findCheckpointBefore(ctx.db, orgId, jobId, from)
      const rows = isEnough ? last.rows : (await readToEnd(log, place, start, wanted)).rows
      return { from: total - rows.length + 1, total, rows }
    },
    all: () => readAll(log, place),
    async outline() {
      const start = await lastCheckpoint()
      const before = start === null ? [] : await listGroups(ctx.db, orgId, jobId, start.offset)
      const { groups, end, total } = await readToEnd(log, place, start, nothing)
      return { total: note(total), outline: summarize([...before, ...groups], end) }
    },
  }
}
