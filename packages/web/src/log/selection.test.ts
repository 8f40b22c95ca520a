import { describe, expect, it } from 'vitest'
import { formatFragment, readFragment, readLines, selectRow } from './selection.ts'

const job = '0196f5b1-3f5c-4cb2-9d0c-0b6a5a6f7d10'

describe('fragments', () => {
  it.each([
    [`#${job}`, { job, lines: null }],
    [`#${job}/L5`, { job, lines: { from: 5, to: 5 } }],
    [`#${job}/L5-L9`, { job, lines: { from: 5, to: 9 } }],
    [`#${job}/L9-L5`, { job, lines: { from: 5, to: 9 } }],
    [`#${job}/nonsense`, { job, lines: null }],
    ['#elsewhere', null],
  ])('reads %j', (fragment, meaning) => expect(readFragment(fragment)).toEqual(meaning))

  it('writes what it reads', () => {
    for (const lines of [null, { from: 7, to: 7 }, { from: 7, to: 900_000 }])
      expect(readFragment(formatFragment(job, lines))).toEqual({ job, lines })
  })

  it('knows no row 0', () => expect(readLines('L0')).toBeNull())
})

describe('selectRow', () => {
  it('selects, clears and extends', () => {
    expect(selectRow(null, 5, false)).toEqual({ from: 5, to: 5 })
    expect(selectRow({ from: 5, to: 5 }, 5, false)).toBeNull()
    expect(selectRow({ from: 5, to: 5 }, 9, true)).toEqual({ from: 5, to: 9 })
    expect(selectRow({ from: 5, to: 9 }, 2, true)).toEqual({ from: 2, to: 9 })
    expect(selectRow(null, 4, true)).toEqual({ from: 4, to: 4 })
  })
})
