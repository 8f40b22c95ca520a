// The OpenAPI document and the server agree on valid bodies: this test changes one value of a valid body, and compares the
// schema of the document with the answer of the server.
import { Compile } from 'typebox/compile'
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp, type Json } from '../../test/app.ts'
import { aWorld, urlIn, type World } from '../../test/world.ts'
import { slices } from '../app.ts'

const app = useApp()

let world: World
let document: Json
beforeAll(async () => {
  world = await aWorld(app)
  document = (await app.request('GET', '/v2/openapi.json')).body
})

const endpoints = Object.values(slices)
  .flat()
  .filter(({ body }) => body !== undefined)
  .flatMap((route) => route.methods.map((method) => ({ endpoint: `${method} ${route.url}`, method, route })))

/** One value of each type, and values at the limits of schemas. */
const odd: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 40,
  '',
  ' ',
  'text',
  '#12',
  '00000000-0000-4000-8000-000000000001',
  'x'.repeat(300),
  [],
  ['text'],
  [1],
  {},
  { key: 'text' },
  { key: 1 },
]

describe('the documented schema of a body', () => {
  it.each(endpoints)('$endpoint holds', async ({ method, route }) => {
    const path = route.url.replace(/:(\w+)/g, '{$1}')
    const content = document.paths[path]?.[method.toLowerCase()]?.requestBody?.content?.['application/json']
    const documented = Compile(inPlace(content?.schema ?? {}) as object)
    const own = Compile(route.body ?? {})
    const { example } = content ?? {}
    expect(documented.Check(example)).toBe(true)
    const wrong: unknown[] = []
    for (const body of variations(example, content?.schema ?? {})) {
      const isDocumented = documented.Check(body)
      // The server runs the same check first.
      if (isDocumented && !own.Check(body)) wrong.push({ refused: body })
      if (isDocumented || !own.Check(body)) continue
      const answer = await app.request(method, urlIn(world, route), { token: world.admin.token, body })
      if (answer.status < 400) wrong.push({ accepted: body })
    }
    expect(wrong).toEqual([])
  })

  it.each(endpoints)('$endpoint says what kind of value each field takes', ({ method, route }) => {
    const path = route.url.replace(/:(\w+)/g, '{$1}')
    const { schema } =
      document.paths[path]?.[method.toLowerCase()]?.requestBody?.content?.['application/json'] ?? {}
    const fields = Object.entries((inPlace(schema ?? {}) as Json).properties ?? {})
    const untyped = fields.filter(([, field]) => !('type' in field || 'anyOf' in field || 'const' in field))
    expect(untyped.map(([name]) => name)).toEqual([])
  })
})

/** The example without each of its fields, and with each known field set to something odd. */
function* variations(example: Json | undefined, schema: Json): Generator {
  const good = { ...example }
  for (const name of Object.keys(good)) {
    const { [name]: _left, ...rest } = good
    yield rest
  }
  for (const name of Object.keys((inPlace(schema) as Json).properties ?? {})) {
    for (const value of odd) yield { ...good, [name]: value }
  }
}

/** The schema with its references resolved. */
function inPlace(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(inPlace)
  if (typeof part !== 'object' || part === null) return part
  const { $ref, ...rest } = part as Record<string, unknown>
  const own = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, inPlace(value)]))
  if (typeof $ref !== 'string') return own
  const target = $ref
    .split('/')
    .slice(1)
    .reduce((at: Json | undefined, key) => at?.[key], document)
  return { ...(inPlace(target) as object), ...own }
}
