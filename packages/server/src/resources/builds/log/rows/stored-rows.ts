// Reads rows from the object of a finished log.
import type { Context } from '../../../../context.ts'
import type { StoredRows } from '../queries.ts'
import type { Log } from '../source.ts'
import { findBlock, inflateRows, readAllBlocks, readBlocks, readOutline, readTable } from './rows-object.ts'
import { countCharacters, mostPageCharacters, type RowPage, type RowSource } from './row-source.ts'

export function storedRows(ctx: Context, log: Log, stored: StoredRows): RowSource {
  const { rows: total } = stored.layout
  /** Begins with the first block in this order, and stops when a page is full. */
  const read = async (from: number, to: number, order: Order): Promise<RowPage> => {
    if (from > to) return { from, total, rows: [] }
    const table = await readTable(ctx, stored)
    const blocks = await readBlocks(ctx, stored, table, findBlock(table, from), findBlock(table, to))
    const parts: Array<{ from: number; rows: string[] }> = []
    let characters = 0
    for (const block of order(blocks)) {
      if (characters >= mostPageCharacters) break
      const { firstRow } = block
      const rows = (await inflateRows(block)).slice(Math.max(from - firstRow, 0), to - firstRow + 1)
      characters += countCharacters(rows)
      parts.push({ from: Math.max(from, firstRow), rows })
    }
    const ordered = order(parts)
    return { from: ordered[0]?.from ?? from, total, rows: ordered.flatMap(({ rows }) => rows) }
  }
  return {
    log,
    page: (from, limit) => read(from, Math.min(from + limit - 1, total), forwards),
    tail: (limit) => read(Math.max(total - limit + 1, 1), total, backwards),
    async *all() {
      for await (const blocks of readAllBlocks(ctx, stored))
        for (const block of blocks) yield await inflateRows(block)
    },
    outline: async () => ({ total, outline: await readOutline(ctx, stored) }),
  }
}

type Order = <Item>(items: readonly Item[]) => readonly Item[]
const forwards: Order = (items) => items
const backwards: Order = (items) => items.toReversed()
