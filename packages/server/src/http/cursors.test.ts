import { describe, expect, it } from 'vitest'
import { keyring } from '../auth/keyring.ts'
import { cursorAnswer, readCursor, type CursorRequest } from './cursors.ts'

const keys = keyring(['first key'])
const url = { base: 'http://millrace.test', path: '/v2/things', query: {} }
const rows = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ at: '2026-01-02T03:04:05.678Z', id }))

interface Body {
  items: string[]
  links: { self: string; first?: string; prev?: string; next?: string }
}

/** The result of a query with the request's bounds on `rows`. */
function find({ after, before, limit }: CursorRequest) {
  const index = (place: { id: string }) => rows.findIndex(({ id }) => id === place.id)
  if (before) return rows.slice(0, index(before)).toReversed().slice(0, limit)
  return rows.slice(after ? index(after) + 1 : 0).slice(0, limit)
}

function ask(query: Record<string, string>, list = 'things', ring = keys): Body {
  const request = readCursor({ ...url, query }, list, ring)
  return cursorAnswer(
    request,
    find(request),
    (row) => row,
    ({ id }) => id,
  ).body as Body
}

const queryOf = (link: string | undefined) => Object.fromEntries(new URL(link ?? '').searchParams)

describe('lists by cursor', () => {
  it('lead forward and back over every row', () => {
    const first = ask({ per_page: '2' })
    const second = ask(queryOf(first.links.next))
    const third = ask(queryOf(second.links.next))
    expect([first, second, third].map(({ items }) => items)).toEqual([['a', 'b'], ['c', 'd'], ['e']])
    expect(ask(queryOf(third.links.prev)).items).toEqual(['c', 'd'])
    expect(ask(queryOf(second.links.prev)).items).toEqual(['a', 'b'])
    expect(ask(queryOf(third.links.first)).items).toEqual(['a', 'b'])
  })

  it('have first and prev links behind the first page only, and next before the last only', () => {
    const first = ask({ per_page: '2' })
    const second = ask(queryOf(first.links.next))
    const third = ask(queryOf(second.links.next))
    expect(Object.keys(first.links)).toEqual(['self', 'next'])
    expect(Object.keys(second.links)).toEqual(['self', 'first', 'prev', 'next'])
    expect(Object.keys(third.links)).toEqual(['self', 'first', 'prev'])
    expect(Object.keys(ask(queryOf(second.links.prev)).links)).toEqual(['self', 'first', 'next'])
  })

  it('refuse a cursor with any character changed, added or missing', () => {
    const { after = '' } = queryOf(ask({ per_page: '2' }).links.next)
    expect(ask({ after }).items).toEqual(['c', 'd', 'e'])
    const changed = after.split('').map((letter, index) => {
      return `${after.slice(0, index)}${letter === 'A' ? 'B' : 'A'}${after.slice(index + 1)}`
    })
    for (const cursor of [
      ...changed,
      `${after}A`,
      `${after}=`,
      `${after}!`,
      after.slice(1),
      after.slice(0, -1),
    ]) {
      expect(() => ask({ after: cursor })).toThrow('The cursor is invalid')
    }
  })

  it('refuse a cursor of another list and of another installation', () => {
    const { after = '' } = queryOf(ask({ per_page: '2' }).links.next)
    expect(() => ask({ after }, 'other things')).toThrow('The cursor is invalid')
    expect(() => ask({ after }, 'things', keyring(['another key']))).toThrow('The cursor is invalid')
  })

  it('accept a cursor made with an older key', () => {
    const { after = '' } = queryOf(ask({ per_page: '2' }).links.next)
    expect(ask({ after }, 'things', keyring(['new key', 'first key'])).items).toEqual(['c', 'd', 'e'])
  })
})
