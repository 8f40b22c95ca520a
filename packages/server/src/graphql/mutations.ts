// Carries out mutations: the ids in the input make the address, its other fields the body, and the answer of REST the payload.
import { notFound } from '../lib/errors.ts'
import { resourceOf, type Address, type ResourceType } from './addresses.ts'
import { uuidOf } from './ids.ts'
import { Node, nodeAt, type GraphqlContext } from './node.ts'
import { columnOf, textOf, type Row, type WriteMethod } from './rest.ts'
import type { BodyInput, BodyInputs, Field, Mutation, Written } from './table.ts'

/** The id of the object that is changed. */
export const byId = <Type extends ResourceType>(type: Type) => ({ id: type })

/** The same, for inputs that also name the organization. */
export const byIdInOrganization = <Type extends ResourceType>(type: Type) =>
  ({ id: type, organizationId: 'Organization' }) as const

/** A field of the body that REST refuses as null: null leaves it as it is. */
export const ifGiven = (type: string, more: Partial<BodyInput> = {}): BodyInput => ({
  type,
  ifGiven: true,
  ...more,
})

/** The input that creates an object as the one that updates it: nothing is required, and null leaves it as it is. */
export const optional = (fields: BodyInputs): BodyInputs =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]): [string, string | BodyInput] => {
      const given: BodyInput = typeof field === 'string' ? { type: field } : field
      const more = { ...given, defaultValue: undefined }
      if (!given.type.endsWith('!')) return [name, more]
      return [name, { ...more, type: given.type.slice(0, -1), ifGiven: true }]
    }),
  )

/** An id in the body, where REST has the UUID. */
export const idOf = (type: ResourceType, column: string, graphqlType = 'ID'): BodyInput => ({
  type: graphqlType,
  column,
  toBody: (id) => (id ? uuidOf(type, textOf(id)) : null),
})

/** The object that REST has answered. */
export const written = (type: string): Field<Written> => ({
  type,
  resolve: ({ address, row }) => new Node(type.replace('!', ''), address, row),
})

export const writtenEdge = (type: string): Field<Written> => ({
  type,
  resolve: ({ address, row }) => ({
    cursor: '',
    node: new Node(type.replace(/Edge!?$/, ''), address, row),
  }),
})

/** An object that the address names, such as the parent of what was written. */
export const addressed = (type: string): Field<Written> => ({
  type,
  resolve: ({ address }, _, context) => nodeAt(context, type.replace('!', ''), address),
})

export const givenId: Field<Written> = { type: 'ID!', resolve: ({ input }) => input['id'] }

export async function carryOut(
  { route, at, check, input: fields }: Mutation,
  input: Row,
  context: GraphqlContext,
): Promise<Written> {
  const [method, path = ''] = route.split(' ') as [WriteMethod | 'GET', string?]
  const type = Object.values(at).find((named) => named !== 'Organization')
  const { url, noun } = resourceOf(type ?? 'Organization')
  const found: Address[] = []
  for (const [name, named] of Object.entries(at)) {
    found.push(await context.addresses.get(named, textOf(input[name])))
  }
  const address: Address = Object.assign({}, ...found)
  if (found.some(({ org }) => org !== address.org)) throw notFound(`No ${noun} found`)
  await check?.(context, address, input)
  if (method === 'GET') return { input, address, row: await context.rest.get(url, address) }
  const body = fields && method !== 'DELETE' ? bodyOf(fields, input) : undefined
  return { input, address, row: await context.rest.write(method, `${url}${path}`, address, body) }
}

function bodyOf(fields: BodyInputs, input: Row): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) {
    const value = input[name]
    const { column, ifGiven: skipsNull, toBody }: Partial<BodyInput> = typeof field === 'string' ? {} : field
    if (value === undefined || (value === null && skipsNull)) continue
    const sent = toBody ? toBody(value) : value
    if (sent !== undefined) body[column ?? columnOf(name)] = sent
  }
  return body
}
