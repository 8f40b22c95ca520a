import { expect, it } from 'vitest'
import { allScopes, readScopes, scopeGroups } from './scopes.ts'

it('shows every scope once, under its noun, reading before writing', () => {
  expect(scopeGroups.flatMap(({ scopes }) => scopes.map(({ scope }) => scope)).toSorted()).toEqual(
    allScopes.toSorted(),
  )
  expect(scopeGroups.find(({ noun }) => noun === 'Builds')?.scopes.map(({ verb }) => verb)).toEqual([
    'read',
    'write',
  ])
})

it('has no writing scope among the reading ones', () => {
  expect(readScopes.length).toBeGreaterThan(10)
  expect(readScopes.every((scope) => scope.startsWith('read_'))).toBe(true)
})
