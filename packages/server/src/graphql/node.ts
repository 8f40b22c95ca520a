// The objects that resolvers pass on, and how their fields are read: `defaultBranch` is `default_branch` of the row that REST
// has answered, `id` is `graphql_id`, and enums are in upper case.
import {
  defaultFieldResolver,
  getNullableType,
  isEnumType,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLTypeResolver,
} from 'graphql'
import type { Caller } from '../auth/caller.ts'
import type { Context } from '../context.ts'
import { globalId } from './ids.ts'
import type { Places } from './addresses.ts'
import type { Rest, Row } from './rest.ts'

/** What a resolver reads with. */
export interface Asked {
  ctx: Context
  caller: Caller
  rest: Rest
  places: Places
}

export interface Resolvers {
  [field: string]: Resolve
}

/** The schema guarantees the types of sources and arguments, so each resolver names its own. */
export type Resolve = {
  resolve(source: Thing, args: Record<string, unknown>, asked: Asked, info: GraphQLResolveInfo): unknown
}['resolve']

/** A part of the schema: definitions, and the resolvers of fields that no row has. */
export interface Part {
  sdl: string
  resolvers?: Record<string, Resolvers>
}

/** An object with a type. `load` reads what is not yet known; it is called only if such a field is asked for. */
export class Thing {
  readonly type: string
  /** The slug of its organization. */
  readonly org: string
  readonly known: Row
  private readonly load: (() => Promise<Row>) | null

  constructor(type: string, org: string, known: Row, load: (() => Promise<Row>) | null = null) {
    this.type = type
    this.org = org
    this.known = known
    this.load = load
  }

  /** A promise only if the value is not yet known, because large answers have many values. */
  get(name: string): unknown {
    if (name in this.known || this.load === null) return this.known[name] ?? null
    return this.load().then((row) => row[name] ?? null)
  }

  async text(name: string): Promise<string> {
    const value = await this.get(name)
    return typeof value === 'string' ? value : ''
  }
}

/** A thing of which only the UUID is known. */
export const thingById = (type: string, org: string, uuid: string, load: () => Promise<Row>): Thing =>
  new Thing(type, org, { id: uuid, uuid, graphql_id: globalId(type, uuid) }, load)

export const readField: GraphQLFieldResolver<unknown, Asked> = (source, args, asked, info) => {
  if (!(source instanceof Thing)) return defaultFieldResolver(source, args, asked, info)
  const value = source.get(columnOf(source, info.fieldName))
  if (!isEnumType(getNullableType(info.returnType))) return value
  return value instanceof Promise ? value.then(toEnum) : toEnum(value)
}

/** The type of an object in a field of an interface or union. */
export const typeOf: GraphQLTypeResolver<unknown, Asked> = (value) =>
  value instanceof Thing ? value.type : String(Reflect.get(Object(value), '__typename'))

const toEnum = (value: unknown) => (typeof value === 'string' ? value.toUpperCase() : value)

function columnOf(source: Thing, field: string): string {
  if (field === 'id') return 'graphql_id'
  // REST names the UUID `uuid` where it has no other id.
  if (field === 'uuid') return 'uuid' in source.known ? 'uuid' : 'id'
  return field.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
}
