import { describe, expect, it } from 'vitest'
import { isSearchable, readLogSearch, toQuery } from './search.ts'

describe('the address of a search of logs', () => {
  it('has what was searched, and nothing else', () => {
    expect(
      readLogSearch({ q: 'a b', regex: true, case: 'yes', in: 'logs', step: '', other: 1, branch: 7 }),
    ).toEqual({
      q: 'a b',
      regex: true,
      in: 'logs',
      branch: '7',
    })
    expect(readLogSearch({ in: 'everything', regex: false })).toEqual({})
  })

  it('asks with whole days', () => {
    expect(toQuery({ q: 'x', regex: true, from: '2026-11-02', to: '2026-11-02', state: 'failed' })).toEqual({
      q: 'x',
      regex: 'true',
      state: 'failed',
      from: '2026-11-02T00:00:00.000Z',
      to: '2026-11-03T00:00:00.000Z',
    })
    expect(toQuery({ q: 'x', from: 'soon' })).toEqual({ q: 'x' })
  })

  it('begins with two characters', () => {
    expect([{}, { q: 'a' }, { q: 'ab' }].map(isSearchable)).toEqual([false, false, true])
  })
})
