import { describe, expect, it } from 'vitest'
import { filterOf, readAuditSearch } from './search.ts'

describe('the address of the audit log', () => {
  it('takes the filters that it knows', () => {
    expect(readAuditSearch({ type: 'TeamCreatedEvent', q: '', page: 2, from: '2026-01-02' })).toEqual({
      type: 'TeamCreatedEvent',
      from: '2026-01-02',
    })
  })

  it('asks for whole days, the last one included', () => {
    expect(filterOf({ from: '2026-01-02', to: '2026-01-02', q: 'ada' })).toEqual({
      q: 'ada',
      from: '2026-01-02T00:00:00.000Z',
      to: '2026-01-03T00:00:00.000Z',
    })
  })

  it('leaves out what is no day', () => {
    expect(filterOf({ from: 'yesterday', to: '' })).toEqual({})
  })
})
