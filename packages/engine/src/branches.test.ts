import { describe, expect, it } from 'vitest'
import { matchesBranch } from './branches.ts'

describe('matchesBranch', () => {
  it.each([
    ['main feature/* !feature/beta', ['main', 'feature/x', 'feature/a/b'], ['feature/beta', 'v1.0', 'dev']],
    ['!main', ['feature/x', 'v1.0'], ['main']],
    ['v*.0', ['v1.0', 'v1/2.0'], ['main', 'v1.1']],
    ['', ['main', 'anything'], []],
    ['  \n ', ['main'], []],
    ['*', ['main', 'a/b'], []],
    ['stages/* !stages/production', ['stages/test'], ['stages/production', 'main']],
    ['!a !b', ['c'], ['a', 'b']],
    ['main\n\tdev', ['main', 'dev'], ['m']],
    ['Main', ['Main'], ['main']],
    ['a.c', ['a.c'], ['abc']],
  ])('E31: %j lets %j pass and holds %j back', (patterns, passing, held) => {
    expect(passing.filter((branch) => !matchesBranch(patterns, branch))).toEqual([])
    expect(held.filter((branch) => matchesBranch(patterns, branch))).toEqual([])
  })

  it('answers for a pattern full of stars, where backtracking would never end', () => {
    expect(matchesBranch(`${'*a'.repeat(2000)}b`, 'a'.repeat(20_000))).toBe(false)
  })
})
