// Builds a schema from parts of the table (see `table.ts`).
import {
  assertInputType,
  assertInterfaceType,
  assertObjectType,
  assertOutputType,
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLUnionType,
  Kind,
  parseType,
  specifiedScalarTypes,
  valueFromASTUntyped,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  type GraphQLNamedType,
  type GraphQLType,
  type TypeNode,
} from 'graphql'
import { badRequest } from '../lib/errors.ts'
import { ownColumn } from './fields.ts'
import { carryOut } from './mutations.ts'
import { typeOf, type GraphqlContext } from './node.ts'
import type { Row } from './rest.ts'
import type { Field, Fields, Inputs, Mutation, Part, RefusedMutation, Written } from './table.ts'

export function schemaOf(parts: readonly Part[]): GraphQLSchema {
  const types = new Types()
  for (const part of parts) types.add(part)
  const query = types.addObject('Query', Object.fromEntries(parts.flatMap(({ queries }) => entries(queries))))
  const mutation = types.addMutations(parts.flatMap(({ mutations }) => entries(mutations)))
  return new GraphQLSchema({ query, mutation, types: types.all() })
}

/** Types by name. A type may name types that are added later, because its fields are read last. */
class Types {
  private readonly types = new Map<string, GraphQLNamedType>(
    specifiedScalarTypes.map((type) => [type.name, type]),
  )

  all(): GraphQLNamedType[] {
    return [...this.types.values()]
  }

  add({ nodes, objects, descriptions, interfaces, unions, enums, scalars, inputs }: Part): void {
    for (const [name, fields] of entries(nodes)) {
      this.addObject(name, { id: 'ID!', ...fields }, 'Node', descriptions?.[name])
    }
    for (const [name, fields] of entries(objects)) {
      const [parent] = entries(interfaces).find(([, { types }]) => types?.includes(name)) ?? []
      this.addObject(name, fields, parent, descriptions?.[name])
    }
    for (const [name, { fields }] of entries(interfaces)) {
      const type = { name, fields: () => this.fields(fields), resolveType: typeOf }
      this.types.set(name, new GraphQLInterfaceType(type))
    }
    for (const [name, members] of entries(unions)) {
      const memberTypes = () => members.map((member) => assertObjectType(this.named(member)))
      this.types.set(name, new GraphQLUnionType({ name, types: memberTypes, resolveType: typeOf }))
    }
    for (const [name, values] of entries(enums)) this.types.set(name, enumOf(name, values))
    for (const [name, { description, read = (value: unknown) => value }] of entries(scalars)) {
      const parseLiteral: GraphQLScalarType['parseLiteral'] = (node, variables) =>
        read(valueFromASTUntyped(node, variables))
      this.types.set(name, new GraphQLScalarType({ name, description, parseValue: read, parseLiteral }))
    }
    for (const [name, fields] of entries(inputs)) this.addInput(name, fields)
  }

  addObject<Source>(name: string, fields: Fields<Source>, parent?: string, description?: string) {
    const type = new GraphQLObjectType<Source, GraphqlContext>({
      name,
      description,
      interfaces: () => (parent === undefined ? [] : [assertInterfaceType(this.named(parent))]),
      fields: () => this.fields(fields),
    })
    this.types.set(name, type)
    return type
  }

  addMutations(mutations: ReadonlyArray<[string, Mutation | RefusedMutation]>) {
    const fields = mutations.map(([name, mutation]): [string, Field] => {
      if ('refusal' in mutation) return [name, this.refused(pascal(name), mutation)]
      const { typeName = pascal(name), at, input, payload } = mutation
      const ids = Object.fromEntries(Object.keys(at).map((id) => [id, 'ID!']))
      this.addInput(`${typeName}Input`, { clientMutationId: 'String', ...ids, ...input })
      this.addObject(`${typeName}Payload`, { clientMutationId, ...payload })
      const resolve: Field['resolve'] = (_, args: { input: Row }, context) =>
        carryOut(mutation, args.input, context)
      return [name, { type: `${typeName}Payload`, args: { input: `${typeName}Input!` }, resolve }]
    })
    return this.addObject('Mutation', Object.fromEntries(fields))
  }

  private refused(typeName: string, { refusal, inputs, payload }: RefusedMutation): Field {
    this.addInput(`${typeName}Input`, { clientMutationId: 'String', ...inputs })
    this.addObject(`${typeName}Payload`, { clientMutationId, ...payload })
    const resolve = () => {
      throw badRequest(refusal)
    }
    return { type: `${typeName}Payload`, args: { input: `${typeName}Input!` }, resolve }
  }

  private addInput(name: string, fields: Inputs): void {
    this.types.set(name, new GraphQLInputObjectType({ name, fields: () => this.inputs(fields) }))
  }

  private fields<Source>(fields: Fields<Source>): GraphQLFieldConfigMap<Source, GraphqlContext> {
    return mapValues(fields, (field, name) => {
      const spec: Field<Source> = typeof field === 'string' ? { type: field } : field
      return {
        type: assertOutputType(this.typeIn(parseType(spec.type))),
        description: spec.description,
        args: this.inputs(spec.args ?? {}),
        resolve: spec.resolve ?? ownColumn(name),
      }
    })
  }

  private inputs(fields: Inputs): GraphQLFieldConfigArgumentMap {
    return mapValues(fields, (field) => {
      const { type, description, defaultValue } = typeof field === 'string' ? { type: field } : field
      return { type: assertInputType(this.typeIn(parseType(type))), description, defaultValue }
    })
  }

  private typeIn(node: TypeNode): GraphQLType {
    if (node.kind === Kind.LIST_TYPE) return new GraphQLList(this.typeIn(node.type))
    if (node.kind === Kind.NAMED_TYPE) return this.named(node.name.value)
    return new GraphQLNonNull(this.typeIn(node.type))
  }

  private named(name: string): GraphQLNamedType {
    const type = this.types.get(name) ?? this.connection(name)
    if (type === undefined) throw new Error(`There is no type ${name}.`)
    return type
  }

  private connection(name: string): GraphQLNamedType | undefined {
    const [, node, kind] = /^(\w+)(Connection|Edge)$/.exec(name) ?? []
    if (kind === undefined) return undefined
    if (kind === 'Edge') return this.addObject(name, { cursor: 'String!', node: `${node}` })
    const fields = { count: 'Int!', edges: `[${node}Edge]`, pageInfo: 'PageInfo' }
    return this.addObject(name, fields, 'Connection')
  }
}

const pascal = (name: string) => name.replace(/^./, (letter) => letter.toUpperCase())

const clientMutationId: Field<Written> = {
  type: 'String',
  resolve: ({ input }) => input['clientMutationId'],
}

function enumOf(name: string, values: string | Readonly<Record<string, string>>): GraphQLEnumType {
  const words =
    typeof values === 'string'
      ? Object.fromEntries(values.split(/\s+/).map((value) => [value, value.toLowerCase()]))
      : values
  return new GraphQLEnumType({ name, values: mapValues(words, (value) => ({ value })) })
}

const entries = <Value>(record: Readonly<Record<string, Value>> = {}) => Object.entries(record)

const mapValues = <Value, Mapped>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value, name: string) => Mapped,
): Record<string, Mapped> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]))
