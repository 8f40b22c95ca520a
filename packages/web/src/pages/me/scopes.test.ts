import { expect, it } from 'vitest'
import { accountScopes, allScopes, commandScopes, describeScopes, groupScopes, readScopes } from './scopes.ts'

it('shows every scope once, under its noun, reading before writing', () => {
  const groups = groupScopes(allScopes)
  expect(groups.flatMap(({ scopes }) => scopes.map(({ scope }) => scope)).toSorted()).toEqual(
    allScopes.toSorted(),
  )
  expect(groups.find(({ noun }) => noun === 'Builds')?.scopes.map(({ verb }) => verb)).toEqual([
    'read',
    'write',
  ])
})

it('has no writing scope among the reading ones', () => {
  expect(readScopes.length).toBeGreaterThan(10)
  expect(readScopes.every((scope) => scope.startsWith('read_'))).toBe(true)
})

it('says what a token may do in a few words', () => {
  expect(describeScopes(allScopes)).toBe('Everything')
  expect(describeScopes(readScopes)).toBe('Read only')
  expect(describeScopes(accountScopes)).not.toBe('Everything')
  expect(describeScopes(accountScopes, accountScopes)).toBe('Everything')
  expect(describeScopes(['read_builds', 'write_builds', 'read_pipelines'])).toBe('Builds, Pipelines')
  expect(describeScopes(commandScopes)).toMatch(/^Agents, Artifacts and \d+ more$/)
})
