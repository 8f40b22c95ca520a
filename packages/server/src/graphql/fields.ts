// Fields that need more than the column of their name. `table.ts` has an example of each.
import { defaultFieldResolver, type GraphQLFieldResolver, type GraphQLResolveInfo } from 'graphql'
import type { RawQuery } from '../http/query.ts'
import { resourceOf, type Address } from './addresses.ts'
import { connect, connectWhole, pageArgs, type PageArgs } from './connections.ts'
import { globalId } from './ids.ts'
import { Node, nodeAt, type GraphqlContext } from './node.ts'
import { columnOf, paramNames, rowOf, textOf, type Row } from './rest.ts'
import type { Field, Inputs } from './table.ts'

/** Reads a field that has no more than a type: the column of its name. `id` is `graphql_id`. Connections are no nodes. */
export function ownColumn(name: string): GraphQLFieldResolver<unknown, GraphqlContext> {
  const column = name === 'id' ? 'graphql_id' : columnOf(name)
  return (source, args, context, info) => {
    if (!(source instanceof Node)) return defaultFieldResolver(source, args, context, info)
    // REST names the UUID `uuid` where it has no other id.
    return source.get(column === 'uuid' && !('uuid' in source.known) ? 'id' : column)
  }
}

export const from = (column: string, type: string): Field => ({
  type,
  resolve: (source) => source.get(column),
})

export const embedded = (type: string, column: string): Field => ({
  type,
  async resolve(source) {
    const row = await source.get(column)
    return row === null ? null : new Node(nameIn(type), source.address, rowOf(row))
  },
})

export const isSet = (column: string): Field => ({
  type: 'Boolean!',
  resolve: async (source) => (await source.get(column)) !== null,
})

/** Variables as NAME=value. */
export const env: Field = {
  type: '[String!]',
  resolve: async (source) =>
    Object.entries(rowOf(await source.get('env'))).map(([name, value]) => `${name}=${String(value)}`),
}

export const self = (type: string): Field => ({ type, resolve: (source) => source })

/** `columns`: parameters of the URL, where they differ from those of the source, by its columns. null if one is empty. */
export const reference = (type: string, columns: Readonly<Record<string, string>> = {}): Field => ({
  type,
  async resolve(source, _, context) {
    const address = await readParams(source, columns)
    return Object.values(address).includes('') ? null : nodeAt(context, nameIn(type), address)
  },
})

/** The URL may be that of something below the object. `idColumn` has its UUID, if the URL does not. */
export const atUrl = (type: string, column: string, idColumn = ''): Field => ({
  type,
  resolve: async (source, _, context) =>
    nodeAtUrl(context, nameIn(type), await source.get(column), source.known[idColumn]),
})

export function nodeAtUrl(context: GraphqlContext, type: string, url: unknown, id?: unknown): Node | null {
  const names = paramNames(resourceOf(type).url)
  const pattern = resourceOf(type).url.replace(/:\w+/g, '([^/?#]+)')
  const [, ...values] = new RegExp(pattern).exec(textOf(url)) ?? []
  if (values.length === 0) return null
  const params = Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']))
  const known = id ? { id, graphql_id: globalId(type, textOf(id)) } : {}
  return nodeAt(context, type, { org: '', ...params }, known)
}

interface List<Args> {
  args?: Inputs
  /** The filters of REST. */
  query?: (args: Args, info: GraphQLResolveInfo) => RawQuery
  /** For short lists that are sorted or filtered here. */
  choose?: (rows: Row[], args: Args) => Row[]
  /** The begin of the name of the connection, if it is not the type. */
  connection?: string
}

export const list = <Args extends object>(
  type: string,
  path: string,
  { args = {}, query, choose, connection = type }: List<Args> = {},
): Field => ({
  type: `${connection}Connection`,
  args: { ...pageArgs, ...args },
  async resolve(source, given: PageArgs & Args, { rest }, info) {
    const { url, by = 'id' } = resourceOf(source.type)
    const address = await readParams(source, { [paramNames(url).at(-1) ?? '']: by })
    const rows = { url: `${url}/${path}`, params: address, query: query?.(given, info) ?? {} }
    const toNode = (row: Row) => new Node(type, address, row)
    if (choose === undefined) return connect(rest, rows, given, toNode)
    return connectWhole(rest, rows, given, (all) => choose(all, given), toNode)
  },
})

/** `order` of short lists. Without it, they are in the order of REST: oldest first. */
export const byOrder = (type: string) => ({
  args: { order: type },
  choose(rows: Row[], { order }: { order?: string | null }): Row[] {
    if (order === 'recently_created') return rows.toReversed()
    return order === 'name' ? rows.toSorted((a, b) => compareNames(a['name'], b['name'])) : rows
  },
})

const compareNames = (a: unknown, b: unknown): number =>
  textOf(a).toLowerCase() < textOf(b).toLowerCase() ? -1 : 1

async function readParams(source: Node, columns: Readonly<Record<string, string>>): Promise<Address> {
  const values = await Promise.all(
    Object.entries(columns).map(async ([name, column]) => [name, await source.text(column)] as const),
  )
  return { ...source.address, ...Object.fromEntries(values) }
}

/** `[Cluster!]!` names the type `Cluster`. */
const nameIn = (type: string): string => type.replaceAll(/[[\]!]/g, '')
