import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { queryReader } from './query.ts'

const declared = {
  flag: Type.Boolean(),
  count: Type.Integer(),
  name: Type.String(),
  states: Type.Array(Type.String()),
  tags: Type.Record(Type.String(), Type.String()),
}

describe('a query', () => {
  it.each([
    [{ flag: 'true' }, { flag: true }],
    [{ flag: 'TRUE' }, { flag: true }],
    [{ flag: 'False' }, { flag: false }],
    [{ flag: '1' }, { flag: true }],
    [{ flag: '0' }, { flag: false }],
    [{ flag: '' }, {}],
    [{ flag: 'perhaps' }, { flag: 'perhaps' }],
    [{ count: '12' }, { count: 12 }],
    [{ count: '-1' }, { count: -1 }],
    [{ count: '1e3' }, { count: '1e3' }],
    [{ name: 'a' }, { name: 'a' }],
    [{ name: ['a', 'b'] }, { name: 'b' }],
    [{ name: ['a', ''] }, { name: 'a' }],
    [{ states: 'a' }, { states: ['a'] }],
    [{ states: ['a', 'b'] }, { states: ['a', 'b'] }],
    [{ 'states[]': 'a' }, { states: ['a'] }],
    [{ 'states[]': ['a', '', 'b'] }, { states: ['a', 'b'] }],
    [{ states: 'a', 'states[]': 'b' }, { states: ['a', 'b'] }],
    [{ 'tags[a]': '1', 'tags[b c]': '2' }, { tags: { a: '1', 'b c': '2' } }],
    [{ 'tags[a]': ['1', '2'], 'tags[b]': '' }, { tags: { a: '2' } }],
    [{ 'tags[a][b]': '1' }, { tags: { 'a][b': '1' } }],
    [{ tags: '1', 'tags[]': '2', 'tags[a': '3' }, {}],
    [{ unknown: 'x', page: '2' }, {}],
  ])('%j is read as %j', (raw, read) => {
    expect(queryReader(declared)(raw)).toEqual(read)
  })
})
