// The objects that resolvers pass on: rows of REST with their GraphQL type.
import { resourceOf, isResource, type Address, type Addresses, type ResourceType } from './addresses.ts'
import { globalId, jobTypes, type GlobalId } from './ids.ts'
import { paramNames, textOf, type Rest, type Row } from './rest.ts'

/** What a resolver reads with. */
export interface GraphqlContext {
  rest: Rest
  addresses: Addresses
}

/** A row with its type. `load` reads what is not yet known; it is called only if such a field is asked for. */
export class Node {
  readonly type: string
  /** The parameters of the URL it was read with. Of a row of a list, those of the list. */
  readonly address: Address
  readonly known: Row
  private readonly load: (() => Promise<Row>) | null

  constructor(type: string, address: Address, known: Row, load: (() => Promise<Row>) | null = null) {
    this.type = type
    this.address = address
    this.known = known
    this.load = load
  }

  /** A promise only if the value is not yet known, because large answers have many values. */
  get(column: string): unknown {
    if (column in this.known || this.load === null) return this.known[column] ?? null
    return this.load().then((row) => row[column] ?? null)
  }

  async text(column: string): Promise<string> {
    return textOf(await this.get(column))
  }
}

/** The type of an object in a field of an interface or union. REST tells the kind of a job in its row. */
export const typeOf = ({ type, known }: Node): string =>
  type === 'Job' ? (jobTypes[textOf(known['type'])] ?? 'JobTypeCommand') : type

/** The object at an address. It is read only if more than `known` and what the address tells is asked for. */
export function nodeAt({ rest }: GraphqlContext, type: string, address: Address, known: Row = {}): Node {
  const { url, by } = resourceOf(type)
  const last = address[paramNames(url).at(-1) ?? ''] ?? ''
  const ids = by ? { [by]: last } : { id: last, uuid: last, graphql_id: globalId(type, last) }
  return new Node(type, address, { ...known, ...ids }, () => rest.get(url, address))
}

/** The object at an address; null if it does not exist or the caller may not see it. */
export async function findAt({ rest }: GraphqlContext, type: ResourceType, address: Address | null) {
  const { url } = resourceOf(type)
  const row = address && (await rest.find(url, address))
  return address && row && new Node(type, address, row)
}

export async function findById(context: GraphqlContext, id: GlobalId): Promise<Node | null> {
  if (!isResource(id.type)) return null
  return findAt(context, id.type, await context.addresses.find(id.type, id))
}
