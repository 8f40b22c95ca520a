import { expect, it } from 'vitest'
import { concerns } from './concerns.ts'

const of = { pipeline: 'p', cluster: 'c', teams: ['t'] }

it.each([
  ['all', [], true],
  ['some_projects', ['p'], true],
  ['some_projects', ['c', 't'], false],
  ['some_clusters', ['c'], true],
  ['some_clusters', ['p'], false],
  ['some_teams', ['u', 't'], true],
  ['some_teams', ['p'], false],
] as const)('a service for %s of %j: %s', (scope, ids, expected) => {
  expect(concerns({ scope, scope_uuids: [...ids] }, of)).toBe(expected)
})

it('is for no cluster where the pipeline has none', () => {
  expect(concerns({ scope: 'some_clusters', scope_uuids: ['c'] }, { ...of, cluster: null })).toBe(false)
})
