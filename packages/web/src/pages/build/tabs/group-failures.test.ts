import { expect, it } from 'vitest'
import { groupFailures, longestPart } from './group-failures.ts'

const job = (id: string, text: string | null, exit_status = 1) => ({
  id,
  exit_status,
  reason: null,
  cause: null,
  log: { failing_row: text === null ? null : 7, rows: text === null ? [] : [{ row: 7, text }] },
})

it('joins jobs that failed with the same row, whatever its numbers are', () => {
  const groups = groupFailures([
    job('a', 'Error: port 5432 is taken'),
    job('b', 'Error: the disk is full'),
    job('c', 'Error: port 6000 is taken'),
    job('d', 'Error: port 5432 is taken', 2),
  ])
  expect(groups.map(({ first, others }) => [first.id, others.map(({ id }) => id)])).toEqual([
    ['a', ['c']],
    ['b', []],
    ['d', []],
  ])
})

it('joins no jobs whose logs say nothing', () => {
  expect(groupFailures([job('a', null), job('b', null)])).toHaveLength(2)
})

it('joins jobs of one cause, whatever else their rows say', () => {
  const of = (id: string, text: string, fingerprint: string) => ({ ...job(id, text), cause: { fingerprint } })
  const groups = groupFailures([
    of('a', 'at /a/b.ts', '1'),
    of('b', 'at /c/b.ts', '1'),
    of('c', 'at /a/b.ts', '2'),
  ])
  expect(groups.map(({ first, others }) => [first.id, others.map(({ id }) => id)])).toEqual([
    ['a', ['b']],
    ['c', []],
  ])
})

it('finds the part of a cause that all of its failures have', () => {
  expect(longestPart('Error: connect ECONNREFUSED <n>:<n> after <n> s')).toBe('Error: connect ECONNREFUSED')
})
