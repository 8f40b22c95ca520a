// What all types share: scalars, ids and connections.
import { badRequest } from '../../lib/errors.ts'
import { readGlobalId } from '../ids.ts'
import { findById } from '../node.ts'
import type { Part } from '../table.ts'

export const nodePart: Part = {
  scalars: {
    DateTime: { description: 'A time, in ISO 8601.' },
    JSON: { description: 'A JSON value. A text is read as JSON if it holds an object.', read: readJson },
    YAML: { description: 'A text in YAML.' },
    TeamSelector: {
      description: 'The slug of a team with that of its organization, or the UUID of a team.',
    },
  },
  interfaces: {
    Node: { fields: { id: 'ID!' } },
    Connection: { fields: { count: 'Int!', pageInfo: 'PageInfo' } },
  },
  objects: {
    PageInfo: {
      endCursor: 'String',
      hasNextPage: 'Boolean!',
      hasPreviousPage: 'Boolean!',
      startCursor: 'String',
    },
  },
  queries: {
    node: {
      type: 'Node',
      args: { id: 'ID!' },
      async resolve(_, { id }: { id: string }, context) {
        const read = readGlobalId(id)
        return read && findById(context, read)
      },
    },
  },
}

/** Clients send JSON as a value or as its text. */
function readJson(value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (!value.trimStart().startsWith('{')) return value
  try {
    return JSON.parse(value)
  } catch {
    throw badRequest('A value of the type JSON is not valid JSON.')
  }
}
