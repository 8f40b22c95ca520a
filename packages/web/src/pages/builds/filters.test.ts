import { describe, expect, it } from 'vitest'
import { hasFilters, readFilters, toQuery } from './filters.ts'

describe('the filters of a list of builds', () => {
  it('come from the address, without what is empty or unknown', () => {
    const filters = readFilters({ state: 'failed', branch: ' main ', creator: '', page: 3 })
    expect(filters).toEqual({ state: 'failed', branch: 'main' })
    expect(hasFilters(filters)).toBe(true)
    expect(hasFilters(readFilters({ branch: ['a'] }))).toBe(false)
  })

  it('keep a branch or commit that looks like a number', () => {
    expect(readFilters({ branch: 12, commit: 1234567 })).toEqual({ branch: '12', commit: '1234567' })
  })

  it('name the reader by id', () => {
    expect(toQuery({ creator: 'me' }, 'u1')).toMatchObject({ creator: 'u1' })
    expect(toQuery({ creator: 'u2' }, 'u1')).toMatchObject({ creator: 'u2' })
  })
})
