import { describe, expect, it } from 'vitest'
import {
  describeFound,
  findMatches,
  firstFrom,
  isLikeExpression,
  keepCurrent,
  noMatches,
  readPattern,
  replaceMatches,
  step,
  type Match,
} from './search.ts'

const query = (text: string, isRegex = false, isCaseSensitive = false) => ({ text, isRegex, isCaseSensitive })
const find = (text: string, isRegex: boolean, isCaseSensitive: boolean, rows: string[]) => {
  const pattern = readPattern(query(text, isRegex, isCaseSensitive))
  return pattern === null
    ? null
    : findMatches(
        pattern,
        rows.map((row, at) => [at + 1, row] as const),
      )
}

describe('findMatches', () => {
  it('takes a text literally unless it is an expression', () => {
    expect(find('a.c', false, false, ['abc a.c', 'A.C'])).toEqual([
      [1, 4, 7],
      [2, 0, 3],
    ])
    expect(find('a.c', true, true, ['abc A.C'])).toEqual([[1, 0, 3]])
  })

  it('refuses a broken expression and skips empty matches', () => {
    expect(find('(', true, false, ['('])).toBeNull()
    expect(find('x*', true, false, ['axx'])).toEqual([[1, 1, 3]])
  })
})

describe('isLikeExpression', () => {
  const areLike = (texts: string[]) => texts.filter((text) => isLikeExpression(query(text)))

  it('knows expressions by their signs', () => {
    const expressions = ['package 1[0-9]+', '^error', 'took \\d+ ms', 'failed|passed', 'a.*b', 'done$']
    expect(areLike(expressions)).toEqual(expressions)
  })

  it('leaves texts alone, what is no expression, and what is searched as one', () => {
    expect(areLike(['AssertionError: no', 'src/a.ts(3,4)', 'why?', '[0-9', 'a * b', '$ make'])).toEqual([])
    expect(isLikeExpression(query('a.*b', true))).toBe(false)
  })
})

describe('steps', () => {
  const list: Match[] = [
    [3, 0, 1],
    [3, 5, 6],
    [9, 0, 1],
  ]

  it('goes around', () => {
    expect(step(list, 2, 1)).toBe(0)
    expect(step(list, 0, -1)).toBe(2)
    expect(step([], -1, 1)).toBe(-1)
  })

  it('begins below a row', () => {
    expect(firstFrom(list, 4)).toBe(2)
    expect(firstFrom(list, 10)).toBe(0)
    expect(firstFrom([], 1)).toBe(-1)
  })

  it('keeps the current match when more are found', () => {
    expect(keepCurrent(list, 1, [[1, 0, 1], ...list])).toBe(2)
    expect(keepCurrent(list, -1, list)).toBe(-1)
  })

  it('replaces the matches of rows that changed', () => {
    const matches = replaceMatches({ list, total: 3, isComplete: true, searchedRows: 12 }, 9, [
      [9, 2, 3],
      [12, 0, 1],
    ])
    expect(matches.list.map(([row]) => row)).toEqual([3, 3, 9, 12])
    expect(matches.total).toBe(4)
  })
})

describe('describeFound', () => {
  const rows = 837_000
  const found = (list: Match[], searchedRows: number, isComplete: boolean) =>
    describeFound(
      { list, total: list.length, isComplete, searchedRows },
      { current: list.length - 1, isSearching: false, rows },
    )

  it('says how much was searched when the search was cut off', () => {
    expect(found([], 318_060, false)).toBe('Not finished: 38 % searched')
    expect(found([[4, 0, 1]], 318_060, false)).toBe('1/1+, 38 % searched')
    expect(found([], rows, false)).toBe('Not finished: 99 % searched')
  })

  it('says that nothing matches only of the whole log', () => {
    expect(found([], rows, true)).toBe('No match')
    expect(found([[4, 0, 1]], rows, true)).toBe('1/1')
    expect(describeFound(noMatches, { current: -1, isSearching: true, rows })).toBe('Searching…')
  })
})
