// The form of the table that the schema is built from, by `build-schema.ts`. `types/` has its parts, one file for each kind of
// object.
//
// A field is a line in its type. `color: 'String'` reads the column `color` of the row that REST has answered, `defaultBranch:
// 'String'` the column `default_branch`, and an enum the value in lower case. A column that REST does not have is null. Other
// fields are made by the functions in `fields.ts`:
//
//   url: from('web_url', 'String!')                            a column of another name
//   createdBy: embedded('User', 'created_by')                  an object in the row
//   steps: self('PipelineSteps')                               an object of columns of the same row
//   cluster: reference('Cluster', { cluster: 'cluster_id' })   an object by the parameters of its URL
//   build: atUrl('Build', 'build_url')                         an object by its URL
//   rules: list('Rule', 'rules')                               a connection, from the list of REST below the object's URL
//   archived: { type: 'Boolean!', resolve: … }                 anything else
//
// A type is an entry of `nodes`, if it has an id, or of `objects`. If REST has a route for it, a line in `addresses.ts` lets
// `node(id)`, references and mutations find it. A type that Millrace does not have is fields alone, and null wherever it is a
// field. The types of a connection are made when a field has `…Connection` or `…Edge` as its type.
//
// A mutation has the ids in its input that name an object, the route below that object's URL, the other fields of the input,
// which are the body, and the payload (see `mutations.ts`). Its input and payload types are made from these.
//
// A test of access.test.ts fails for a mutation that it does not know. docs/graphql.md lists queries and mutations.
import type { GraphQLResolveInfo } from 'graphql'
import type { Address, ResourceType } from './addresses.ts'
import type { GraphqlContext, Node } from './node.ts'
import type { Row } from './rest.ts'

export interface Part {
  /** Types with an id. They implement `Node`, and need not name `id`. */
  nodes?: Readonly<Record<string, Fields>>
  objects?: Readonly<Record<string, Fields>>
  /** Descriptions of types. */
  descriptions?: Readonly<Record<string, string>>
  /** `types`: the objects that implement it. */
  interfaces?: Readonly<Record<string, { fields: Fields; types?: readonly string[] }>>
  /** The types of each union. */
  unions?: Readonly<Record<string, readonly string[]>>
  /** The values, separated by spaces. REST has them in lower case, unless its words are given too. */
  enums?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  scalars?: Readonly<Record<string, { description: string; read?: (value: unknown) => unknown }>>
  inputs?: Readonly<Record<string, Inputs>>
  queries?: Fields
  mutations?: Readonly<Record<string, Mutation | RefusedMutation>>
}

export type Fields<Source = Node> = Readonly<Record<string, string | Field<Source>>>

/** The schema guarantees the types of arguments, so each resolver names its own. */
export interface Field<Source = Node> {
  /** As GraphQL writes it, such as `[String!]!`. */
  type: string
  description?: string
  args?: Inputs
  resolve?(
    source: Source,
    args: Record<string, unknown>,
    context: GraphqlContext,
    info: GraphQLResolveInfo,
  ): unknown
}

/** Arguments of a field, or fields of an input. */
export type Inputs = Readonly<Record<string, string | Input>>

interface Input {
  type: string
  description?: string
  defaultValue?: unknown
}

/** Fields of the input of a mutation that are fields of the body. */
export type BodyInputs = Readonly<Record<string, string | BodyInput>>

export interface BodyInput extends Input {
  /** The name in the body, if it is not the same in snake case. */
  column?: string
  /** REST refuses null, so null leaves the value as it is. */
  ifGiven?: boolean
  /** Makes the value of the body. undefined: the body does not have it. */
  toBody?: (value: unknown) => unknown
}

/** A mutation of what Millrace does not have. Documents that name it are valid; who sends one is told the reason. */
export interface RefusedMutation {
  refusal: string
  inputs: Inputs
  payload: Readonly<Record<string, Field<Written>>>
}

export interface Mutation {
  /** The begin of the names of its input and payload types, if it is not that of the mutation. */
  typeName?: string
  /** The method, and what follows the URL of the object that `at` names. GET: the mutation changes nothing. */
  route: 'GET' | 'PUT' | 'DELETE' | `${'POST' | 'PUT' | 'DELETE'} /${string}`
  /** The fields of the input that hold ids, and their types. If two, one is the organization, and both must fit. */
  at: Readonly<Record<string, ResourceType>>
  /** Throws if the object at the address must not be changed, or not so. */
  check?: (context: GraphqlContext, address: Address, input: Row) => Promise<void>
  input?: BodyInputs
  payload: Readonly<Record<string, Field<Written>>>
}

/** What the payload of a mutation is made of. */
export interface Written {
  input: Row
  address: Address
  /** The answer of REST. */
  row: Row
}
