import { expect, it } from 'vitest'
import { describeStart } from './times.ts'

it('a start that is expected is said as a time from now, and never as one that has passed', () => {
  const now = Date.parse('2030-01-01T10:00:00Z')
  const said = (at: string) => describeStart(at, now)
  expect(said('2030-01-01T10:04:05Z')).toBe('in 4 min 5 s')
  expect(said('2030-01-01T13:00:00Z')).toBe('in 3 h')
  expect(said('2030-01-01T10:00:03Z')).toBe('any moment')
  expect(said('2030-01-01T09:00:00Z')).toBe('any moment')
})
