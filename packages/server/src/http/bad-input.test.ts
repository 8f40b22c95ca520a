// Sends every field of every body with all kinds of wrong values. The answer must be 4xx with a message, never 5xx.
import { describe, expect, it } from 'vitest'
import { Compile } from 'typebox/compile'
import { useApp } from '../../test/app.ts'
import { aWorld, urlIn, type World } from '../../test/world.ts'
import { slices } from '../app.ts'
import type { Route } from './route.ts'

const app = useApp()

// Endpoints share one test organization, except those whose valid bodies may lock everybody out, end the build or move
// the pipeline.
const worlds = new Map<string, Promise<World>>()
const worldOf = ({ methods, url, changesAccess }: Route, field = ''): Promise<World> => {
  const adds = methods[0] === 'POST'
  const isAlone = !adds && (changesAccess || url.endsWith('/cancel') || field === 'slug')
  const name = isAlone ? url : adds ? 'adds' : 'changes'
  const world = worlds.get(name) ?? aWorld(app)
  worlds.set(name, world)
  return world
}

const bodies = Object.values(slices)
  .flat()
  .flatMap((route) =>
    route.body === undefined
      ? []
      : [{ endpoint: `${route.methods[0]} ${route.url}`, route, schema: route.body }],
  )
const fields = bodies.flatMap(({ endpoint, route, schema }) => {
  const check = Compile(schema)
  const names = Object.keys((Reflect.get(schema, 'properties') as object | undefined) ?? {})
  return names.map((field) => ({ endpoint, route, schema, check, field }))
})

const wrong: Array<[name: string, value: unknown]> = [
  ['a number', 12.5],
  ['a huge number', 1e300],
  ['a boolean', true],
  ['null', null],
  ['a list', [[]]],
  ['an object', { a: { b: 1 } }],
  ['an empty string', ''],
  ['blanks', '   '],
  ['a long string', 'x'.repeat(100_000)],
  ['markup', '<script>alert(1)</script>'],
  ['a quote', `'; drop table users; --`],
]

const unstorable = ['"\\u0000"', '"a\\ud800b"', '["\\udc00"]', '{"\\u0000": 1}']

const sendJson = (world: World, route: Route, text: string) =>
  app.request(route.methods[0] ?? 'POST', urlIn(world, route), {
    token: world.admin.token,
    text,
    headers: { 'Content-Type': 'application/json' },
  })

describe('every body', () => {
  it.each(bodies)('$endpoint answers 4xx to a body that is not a JSON object', async ({ route }) => {
    const world = await worldOf(route)
    for (const text of [
      '{',
      'null',
      '[]',
      '"text"',
      '1',
      '{"a":1',
      '['.repeat(5000),
      `{"a":"${'x'.repeat(route.bodyLimitBytes)}"}`,
    ]) {
      const answer = await sendJson(world, route, text)
      expect([
        text.slice(0, 20),
        answer.status >= 400 && answer.status < 500,
        typeof answer.body.message,
      ]).toEqual([text.slice(0, 20), true, 'string'])
    }
  })

  it.each(fields)(
    '$endpoint answers 4xx to a wrong $field, and never 5xx',
    async ({ route, schema, check, field }) => {
      const world = await worldOf(route, field)
      // The slug of a pipeline would change its URL.
      const slug = route.url.endsWith('/pipelines/:pipeline') ? { slug: world.ids['pipeline'] } : {}
      const [example] = (Reflect.get(schema, 'examples') as object[] | undefined) ?? [{}]
      const amiss: unknown[] = []
      for (const [name, value] of wrong) {
        const body = { ...example, ...slug, [field]: value }
        const { status, body: answer } = await sendJson(world, route, JSON.stringify(body))
        const isFine = check.Check(body) ? status < 500 || status === 503 : status >= 400 && status < 500
        const isSaid = status < 400 || /\w+ \w+/.test(String(answer.message))
        if (!isFine || !isSaid) amiss.push({ name, status, message: answer.message })
      }
      for (const text of unstorable) {
        const rest = JSON.stringify({ ...example, ...slug, [field]: undefined }).slice(1)
        const { status } = await sendJson(
          world,
          route,
          `{"${field}": ${text}${rest === '}' ? '' : ','}${rest}`,
        )
        if (status !== 400) amiss.push({ text, status })
      }
      expect(amiss).toEqual([])
    },
  )
})
