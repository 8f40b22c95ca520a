import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { checker } from './check.ts'

const orNull = (schema: ReturnType<typeof Type.String>) => Type.Union([schema, Type.Null()])
const Word = Type.String({ pattern: '^\\w+$', description: 'must be one word' })

const check = checker(
  Type.Object({
    name: Type.String({ minLength: 1, maxLength: 5 }),
    word: Type.Optional(Word),
    note: Type.Optional(orNull(Type.String({ maxLength: 5 }))),
    tag: Type.Optional(orNull(Word)),
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
    isOn: Type.Optional(Type.Boolean()),
    kind: Type.Optional(Type.Literal('plain')),
    mode: Type.Optional(Type.Union([Type.Literal('on'), Type.Literal('off')])),
    days: Type.Optional(
      Type.Union([...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((day) => Type.Literal(day)), Type.Null()]),
    ),
    users: Type.Optional(
      Type.Array(Type.Object({ id: Type.String(), age: Type.Optional(Type.Integer()) }), { maxItems: 2 }),
    ),
    owner: Type.Optional(Type.Union([Type.Object({ id: Type.String() }), Type.Null()])),
    env: Type.Optional(Type.Record(Type.String(), Type.String())),
  }),
)

describe('a body', () => {
  it.each([
    [{}, 'name is required'],
    [[], 'the body must be an object'],
    [{ name: 1 }, 'name must be a string'],
    [{ name: null }, 'name must be a string'],
    [{ name: '' }, 'name must not be empty'],
    [{ name: 'too long' }, 'name must have at most 5 characters'],
    [{ name: 'a', word: 'two words' }, 'word must be one word'],
    [{ name: 'a', note: 'too long' }, 'note must have at most 5 characters'],
    [{ name: 'a', note: 1 }, 'note must be a string or null'],
    [{ name: 'a', tag: 'two words' }, 'tag must be one word'],
    [{ name: 'a', count: 0 }, 'count must be at least 1'],
    [{ name: 'a', count: 10 }, 'count must be at most 9'],
    [{ name: 'a', count: 1.5 }, 'count must be an integer'],
    [{ name: 'a', isOn: 'true' }, 'isOn must be a boolean'],
    [{ name: 'a', kind: 'other' }, 'kind must be "plain"'],
    [{ name: 'a', mode: 'maybe' }, 'mode must be "on" or "off"'],
    [{ name: 'a', days: '1' }, 'days must be 1, 2, 3, 4, 5, 6, 7, 8, 9 or null'],
    [{ name: 'a', days: 10 }, 'days must be 1, 2, 3, 4, 5, 6, 7, 8, 9 or null'],
    [{ name: 'a', users: {} }, 'users must be an array'],
    [{ name: 'a', users: [{ id: 'x' }, {}] }, 'users[1].id is required'],
    [{ name: 'a', users: [{ id: 'x', age: 'old' }] }, 'users[0].age must be an integer'],
    [{ name: 'a', users: [1, 2, 3].map(() => ({ id: 'x' })) }, 'users must have at most 2 entries'],
    [{ name: 'a', owner: { id: 1 } }, 'owner.id must be a string'],
    [{ name: 'a', owner: 'x' }, 'owner must be an object or null'],
    [{ name: 'a', env: { 'A/B': 1 } }, 'env.A/B must be a string'],
  ])('%j is refused: %s', (body, reason) => {
    expect(check(body)).toMatchObject({ ok: false, reason })
  })

  it('may have unknown keys', () => {
    const body = { name: 'a', unknown: 1 }
    expect(check(body)).toEqual({ ok: true, value: body })
  })
})
