// Reads rows from the object of a finished log.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Context } from '../../../../context.ts'
import {
  blockAt,
  countBlocks,
  findBlock,
  readOutline,
  readPart,
  readTable,
  type Block,
  type Table,
} from './rows-object.ts'
import { mostPageCharacters, type RowPage, type RowSource } from './rows.ts'
import { searchStored } from './search.ts'
import type { Log, StoredRows } from '../source.ts'

const inflate = promisify(gunzip)

export function storedRows(ctx: Context, log: Log, stored: StoredRows): RowSource {
  const { rows: total } = stored.layout
  const read = async (from: number, to: number, order: Order): Promise<RowPage> => {
    if (from > to) return { from, total, rows: [] }
    const table = await readTable(ctx, stored)
    const blocks = blocksOf(stored, table, from, to)
    const parts = await readRows(ctx, stored, order(blocks), { from, to })
    const ordered = order(parts)
    return { from: ordered[0]?.from ?? from, total, rows: ordered.flatMap(({ rows }) => rows) }
  }
  return {
    log,
    page: (from, limit) => read(from, Math.min(from + limit - 1, total), forwards),
    tail: (limit) => read(Math.max(total - limit + 1, 1), total, backwards),
    outline: async () => ({ total, outline: await readOutline(ctx, stored) }),
    search: (query) => searchStored(ctx, stored, query),
  }
}

type Order = <Item>(items: readonly Item[]) => readonly Item[]
const forwards: Order = (items) => items
const backwards: Order = (items) => items.toReversed()

function blocksOf(stored: StoredRows, table: Table, from: number, to: number): Block[] {
  const first = findBlock(table, from)
  const last = Math.min(findBlock(table, to), countBlocks(table) - 1)
  return Array.from({ length: last - first + 1 }, (_, index) => blockAt(stored, table, first + index))
}

/** Stops when a page is full. */
async function readRows(
  ctx: Context,
  { key }: StoredRows,
  blocks: readonly Block[],
  { from, to }: { from: number; to: number },
): Promise<Array<{ from: number; rows: string[] }>> {
  const start = Math.min(...blocks.map(({ offset }) => offset))
  const bytes = await readPart(ctx, key, start, Math.max(...blocks.map(({ end }) => end)))
  const parts: Array<{ from: number; rows: string[] }> = []
  let characters = 0
  for (const { offset, end, firstRow } of blocks) {
    if (characters >= mostPageCharacters) break
    const text = (await inflate(bytes.subarray(offset - start, end - start))).toString()
    const rows = text.split('\n').slice(Math.max(from - firstRow, 0), to - firstRow + 1)
    characters += rows.reduce((sum, row) => sum + row.length, 0)
    parts.push({ from: Math.max(from, firstRow), rows })
  }
  return parts
}
