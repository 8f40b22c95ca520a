import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { bare, escaped, fieldWhere, object, text, time, where, word, type JsonText } from './json-text.ts'

const app = useApp()

async function read(json: JsonText): Promise<unknown> {
  const { rows } = await sql<{ json: string }>`select ${json} as json`.execute(app.db)
  return JSON.parse(rows[0]?.json ?? '')
}

describe('JSON written by PostgreSQL', () => {
  it('keeps any text, and null', async () => {
    const odd = 'quote " backslash \\ newline \n tab \t bell \u0007 ü 🎉 </script>'
    expect(await read(text(sql`${odd}::text`))).toBe(odd)
    const nothing = sql`null::text`
    expect(
      await read(
        object({ a: text(nothing), b: word(nothing), c: bare(nothing), d: time(sql`null::timestamptz`) }),
      ),
    ).toEqual({
      a: null,
      b: null,
      c: null,
      d: null,
    })
  })

  it('takes numbers, booleans and JSON as they are', async () => {
    const fields = {
      number: bare(sql`1.5`),
      flag: bare(sql`true`),
      json: bare(sql`'{"a": [1, null]}'::jsonb`),
      list: bare(sql`to_json(array['a', 'b "c"'])`),
    }
    expect(await read(object(fields))).toEqual({
      number: 1.5,
      flag: true,
      json: { a: [1, null] },
      list: ['a', 'b "c"'],
    })
  })

  it('writes times the way every other answer has them', async () => {
    for (const at of [
      '2026-01-02T03:04:05.678Z',
      '2026-01-02T03:04:05.600Z',
      '2026-12-31T23:59:59.999Z',
      '1970-01-01T00:00:00.000Z',
    ]) {
      expect(await read(time(sql`${at}::timestamptz(3)`))).toBe(at)
      const { rows } = await sql<{ iso: string }>`select iso(${at}::timestamptz(3)) as iso`.execute(app.db)
      expect(rows[0]?.iso).toBe(at)
    }
  })

  it('has some fields only where a condition holds', async () => {
    const some = (is: boolean) =>
      object(
        { a: where(sql`${is}::boolean`, bare(sql`1`)) },
        fieldWhere(sql`${is}::boolean`, 'b', text(sql`'x'::text`)),
      )
    expect(await read(some(true))).toEqual({ a: 1, b: 'x' })
    expect(await read(some(false))).toEqual({ a: null })
  })

  it('has as many fields as one likes, and escapes our own words', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `field_${index}`)
    const wide = object(Object.fromEntries(names.map((name) => [name, word(sql`${escaped('a"b')}::text`)])))
    expect(await read(wide)).toEqual(Object.fromEntries(names.map((name) => [name, 'a"b'])))
  })
})
