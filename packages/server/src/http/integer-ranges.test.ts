// Every integer in a request has a range, so that its column can store it.
import { describe, expect, it } from 'vitest'
import { agentApiRoutes, slices } from '../app.ts'

/** The paths of numbers without both bounds. */
function unboundedIntegers(schema: unknown, path: string): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const own = Reflect.get(schema, 'type') === 'integer' && !hasRange(schema) ? [path] : []
  return [
    ...own,
    ...Object.entries(schema).flatMap(([key, inner]) => unboundedIntegers(inner, `${path}/${key}`)),
  ]
}

const hasRange = (schema: object) =>
  [Reflect.get(schema, 'minimum'), Reflect.get(schema, 'maximum')].every(Number.isSafeInteger)

describe('abuse case H1: numbers beyond what is stored', () => {
  it.each(Object.values(slices).flat())('$methods $url gives every whole number a range', (route) => {
    const { params, query, body } = route
    const schemas = { params: Object.values(params).map(({ schema }) => schema), query, body }
    expect(unboundedIntegers(schemas, '')).toEqual([])
  })

  it.each([...agentApiRoutes])('agents: $method $url gives every whole number a range', ({ body }) => {
    expect(unboundedIntegers(body, '')).toEqual([])
  })

  it('finds a number without a range', () => {
    const body = { type: 'object', properties: { a: { anyOf: [{ type: 'integer', minimum: 1 }] } } }
    expect(unboundedIntegers(body, '')).toEqual(['/properties/a/anyOf/0'])
  })
})
