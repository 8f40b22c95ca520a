// Connections: `first` and `after` over the page numbers of REST. A cursor is a position in the list.
import type { RawQuery } from '../http/query.ts'
import { badRequest } from '../lib/errors.ts'
import { mostPerPage } from '../http/paging.ts'
import type { Params, Rest, RestPage, Row } from './rest.ts'
import type { Part, Thing } from './node.ts'

export const defaultFirst = 30
export const mostFirst = 500
/** More rows are not counted. */
const mostCounted = 5000

export type PageArgs = { first?: number | null; after?: string | null }

/** The arguments of every connection. */
export const pageArgs = 'first: Int, after: String'

export interface Connection {
  edges: Array<{ cursor: string; node: Thing }>
  pageInfo: {
    hasNextPage: boolean
    hasPreviousPage: boolean
    startCursor: string | null
    endCursor: string | null
  }
  count: () => Promise<number>
}

export const connectionPart: Part = {
  sdl: /* GraphQL */ `
    type PageInfo {
      endCursor: String
      hasNextPage: Boolean!
      hasPreviousPage: Boolean!
      startCursor: String
    }
    interface Connection {
      count: Int!
      pageInfo: PageInfo
    }
  `,
}

/** The types of a connection, such as `ClusterConnection` and `ClusterEdge`. */
export const connectionSdl = (node: string, name = node): string => /* GraphQL */ `
  type ${name}Connection implements Connection {
    count: Int!
    edges: [${name}Edge]
    pageInfo: PageInfo
  }
  type ${name}Edge {
    cursor: String!
    node: ${node}
  }
`

/** A list of REST. `query` has its filters. */
export interface Listed {
  url: string
  params: Params
  query?: RawQuery
}

/** Reads the pages of REST that hold the rows that are asked for. */
export async function connect(
  rest: Rest,
  list: Listed,
  args: PageArgs,
  toThing: (row: Row) => Thing,
): Promise<Connection> {
  const { first, offset } = readArgs(args)
  const found = await readRows(rest, list, offset, first)
  return toConnection(found.rows.map(toThing), offset, found.hasNext, () => countRows(rest, list))
}

/** For short lists that are sorted or filtered here: reads all rows, up to a thousand. */
export async function connectWhole(
  rest: Rest,
  list: Listed,
  args: PageArgs,
  choose: (rows: Row[]) => Row[],
  toThing: (row: Row) => Thing,
): Promise<Connection> {
  const { first, offset } = readArgs(args)
  const { rows, hasNext } = await readRows(rest, list, 0, mostWhole)
  if (hasNext) throw badRequest(`The list has more than ${mostWhole} rows. Read it over REST.`)
  const chosen = choose(rows)
  const nodes = chosen.slice(offset, offset + first).map(toThing)
  return toConnection(nodes, offset, chosen.length > offset + first, async () => chosen.length)
}

const mostWhole = 1000

export function toConnection(
  nodes: readonly Thing[],
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

export function readArgs({ first, after }: PageArgs): { first: number; offset: number } {
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
