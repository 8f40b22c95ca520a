import { describe, expect, it } from 'vitest'
import { splitByJobs } from './present.ts'
import { readTime } from '../../../http/iso-time.ts'
import { isNarrowed, likePattern, readFilter } from './rules.ts'

describe('a time in a filter', () => {
  it.each([
    ['2026-01-02', '2026-01-02T00:00:00.000Z'],
    ['2026-01-02T03:04', '2026-01-02T03:04:00.000Z'],
    ['2026-01-02T03:04:05', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05.678901Z', '2026-01-02T03:04:05.678Z'],
    ['2026-01-02t03:04:05z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05+02:00', '2026-01-02T01:04:05.000Z'],
    ['2026-01-02T03:04:05-0230', '2026-01-02T05:34:05.000Z'],
    ['2026-01-02T03:04:05 02:00', '2026-01-02T01:04:05.000Z'],
    ['2026-01-02 03:04:05', '2026-01-02T03:04:05.000Z'],
  ])('%s is %s', (given, time) => {
    expect(readTime('created_from', given)).toBe(time)
  })

  it.each([
    '',
    'now',
    '2026',
    '1767312000',
    '2026-13-01',
    '2026-01-02T25:00',
    '0000-01-01',
    '9999-12-31T23:00-05:00',
  ])('%j is refused', (given) => {
    expect(() => readTime('created_from', given)).toThrow('Unknown created_from')
  })
})

describe('a branch pattern', () => {
  it.each([
    ['*', '%'],
    ['a*b**c', 'a%b%c'],
    ['100%_\\*', '100\\%\\_\\\\%'],
  ])('%s becomes %s', (pattern, like) => {
    expect(likePattern(pattern)).toBe(like)
  })
})

describe('a filter', () => {
  it('expands finished, and knows which states builds only pass through', () => {
    expect(readFilter({ state: ['finished', 'running'] }).states).toEqual({
      shown: ['passed', 'failed', 'canceled', 'running'],
      blocked: true,
      isPassing: false,
    })
    expect(readFilter({ state: ['running', 'blocked'] }).states).toEqual({
      shown: ['running'],
      blocked: true,
      isPassing: true,
    })
  })

  it('narrows by what finds few builds, and not by state or end', () => {
    expect(isNarrowed(readFilter({ branch: ['*'] }))).toBe(true)
    expect(isNarrowed(readFilter({ finished_from: '2026-01-01' }))).toBe(true)
    expect(isNarrowed(readFilter({ state: ['passed'], created_to: '2026-01-01' }))).toBe(false)
  })
})

describe('the parts of a page', () => {
  it('hold a bounded number of jobs, and at least one build', () => {
    const sizes = [10, 10, 990, 4000, 1, 999, 1].map((jobs) => ({ jobs }))
    expect(splitByJobs(sizes).map((part) => part.map(({ jobs }) => jobs))).toEqual([
      [10, 10],
      [990],
      [4000],
      [1, 999],
      [1],
    ])
  })
})
