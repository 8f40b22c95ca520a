// Scalars, and the interface that every object with an id has.
import { isScalarType, valueFromASTUntyped, type GraphQLSchema } from 'graphql'
import { badRequest } from '../../lib/errors.ts'
import type { Part } from '../node.ts'

export const scalarPart: Part = {
  sdl: /* GraphQL */ `
    "A time, in ISO 8601."
    scalar DateTime
    "A JSON value. A text is read as JSON if it holds an object."
    scalar JSON
    "A text in YAML."
    scalar YAML
    "The slug of a team with that of its organization, or the UUID of a team."
    scalar TeamSelector
    interface Node {
      id: ID!
    }
  `,
}

/** Clients send JSON as a value or as its text. */
export function readJson(value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (!value.trimStart().startsWith('{')) return value
  try {
    return JSON.parse(value)
  } catch {
    throw badRequest('A value of the type JSON is not valid JSON.')
  }
}

/** Lets the scalar JSON read texts. */
export function parseJson(schema: GraphQLSchema): void {
  const scalar = schema.getType('JSON')
  if (!isScalarType(scalar)) throw new Error('The schema has no scalar JSON.')
  scalar.parseValue = readJson
  scalar.parseLiteral = (node, variables) => readJson(valueFromASTUntyped(node, variables))
}
