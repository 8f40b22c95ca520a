// Connections: `first` and `after` over the page numbers of REST. A cursor is a position in the list.
import type { RawQuery } from '../http/query.ts'
import { badRequest } from '../lib/errors.ts'
import { mostPerPage } from '../http/paging.ts'
import type { Node } from './node.ts'
import type { Params, Rest, RestPage, Row } from './rest.ts'
import type { Inputs } from './table.ts'

export const defaultFirst = 30
export const mostFirst = 500
/** More rows are not counted. */
const mostCounted = 5000

export type PageArgs = { first?: number | null; after?: string | null }

/** The arguments of every connection. */
export const pageArgs: Inputs = { first: 'Int', after: 'String' }

export interface Connection {
  edges: Array<{ cursor: string; node: Node }>
  pageInfo: {
    hasNextPage: boolean
    hasPreviousPage: boolean
    startCursor: string | null
    endCursor: string | null
  }
  count: () => Promise<number>
}

/** A list of REST. `query` has its filters. */
interface Listed {
  url: string
  params: Params
  query?: RawQuery
}

/** Reads the pages of REST that hold the rows that are asked for. */
export async function connect(
  rest: Rest,
  list: Listed,
  args: PageArgs,
  toNode: (row: Row) => Node,
): Promise<Connection> {
  const { first, offset } = readArgs(args)
  const found = await readRows(rest, list, offset, first)
  return toConnection(found.rows.map(toNode), offset, found.hasNext, () => countRows(rest, list))
}

/** For short lists that are sorted or filtered here: reads all rows, up to a thousand. */
export async function connectWhole(
  rest: Rest,
  list: Listed,
  args: PageArgs,
  choose: (rows: Row[]) => Row[],
  toNode: (row: Row) => Node,
): Promise<Connection> {
  const { rows, hasNext } = await readRows(rest, list, 0, mostWhole)
  if (hasNext) throw badRequest(`The list has more than ${mostWhole} rows. Read it over REST.`)
  return connectRows(choose(rows), args, toNode)
}

/** For rows that are all known. */
export function connectRows(rows: readonly Row[], args: PageArgs, toNode: (row: Row) => Node): Connection {
  const { first, offset } = readArgs(args)
  const nodes = rows.slice(offset, offset + first).map(toNode)
  return toConnection(nodes, offset, rows.length > offset + first, async () => rows.length)
}

const mostWhole = 1000

function toConnection(
  nodes: readonly Node[],
  offset: number,
  hasNextPage: boolean,
  count: () => Promise<number>,
): Connection {
  const edges = nodes.map((node, index) => ({ cursor: cursorAt(offset + index + 1), node }))
  return {
    edges,
    pageInfo: {
      hasNextPage,
      hasPreviousPage: offset > 0,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    count: async () => (offset === 0 && !hasNextPage ? nodes.length : count()),
  }
}

function readArgs({ first, after }: PageArgs): { first: number; offset: number } {
  const size = first ?? defaultFirst
  if (size < 0 || size > mostFirst) throw badRequest(`\`first\` must be from 0 to ${mostFirst}.`)
  return { first: size, offset: after ? readCursor(after) : 0 }
}

const cursorAt = (position: number) => btoa(`row-${position}`)

function readCursor(cursor: string): number {
  const [, position] = /^row-([1-9]\d{0,8})$/.exec(Buffer.from(cursor, 'base64').toString()) ?? []
  if (position === undefined) throw badRequest('`after` is no cursor. Take the endCursor of an answer.')
  return Number(position)
}

/** Rows `offset` to `offset + count` of the list. */
async function readRows(rest: Rest, list: Listed, offset: number, count: number): Promise<RestPage> {
  if (count === 0) return { rows: [], hasNext: true }
  // Whole pages only, if the position allows it.
  const perPage = count <= mostPerPage && offset % count === 0 ? count : mostPerPage
  const rows: Row[] = []
  const skipped = offset % perPage
  for (let page = Math.floor(offset / perPage) + 1; ; page++) {
    const found = await rest.page(list.url, list.params, {
      ...list.query,
      page: String(page),
      per_page: String(perPage),
    })
    rows.push(...found.rows)
    const wanted = rows.slice(skipped, skipped + count)
    if (!found.hasNext || wanted.length === count) {
      return { rows: wanted, hasNext: found.hasNext || rows.length > skipped + count }
    }
  }
}

async function countRows(rest: Rest, list: Listed): Promise<number> {
  const { rows, hasNext } = await readRows(rest, list, 0, mostCounted)
  if (hasNext) throw badRequest(`\`count\` is known up to ${mostCounted}. Leave it out, or narrow the list.`)
  return rows.length
}
