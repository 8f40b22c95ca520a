import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { median, partsWithin, splitByTime, type TimedTest } from './test-split.ts'

const durations = fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 200 })
const partCount = fc.integer({ min: 1, max: 40 })

const named = (all: readonly number[]): TimedTest[] =>
  all.map((duration, index) => ({ name: `test-${index}`, duration }))

const timesOf = (tests: readonly TimedTest[], parts: readonly number[][]): number[] =>
  parts.map((positions) => positions.reduce((sum, position) => sum + (tests[position]?.duration ?? 0), 0))

const namesOf = (tests: readonly TimedTest[], parts: readonly number[][]) =>
  parts.map((positions) => positions.map((position) => tests[position]?.name).sort())

describe('splitByTime', () => {
  it('gives every test to exactly one part, in the given order', () => {
    fc.assert(
      fc.property(durations, partCount, (all, parts) => {
        const split = splitByTime(named(all), parts)
        expect(split).toHaveLength(parts)
        expect(split.flat().sort((a, b) => a - b)).toEqual(all.map((_, index) => index))
        for (const positions of split) expect(positions).toEqual(positions.toSorted((a, b) => a - b))
      }),
    )
  })

  it('makes no two parts differ by more than the longest test', () => {
    fc.assert(
      fc.property(durations, partCount, (all, parts) => {
        const times = timesOf(named(all), splitByTime(named(all), parts))
        expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(Math.max(0, ...all))
      }),
    )
  })

  it('divides tests of equal length by number, also those that take no time', () => {
    fc.assert(
      fc.property(fc.nat({ max: 200 }), fc.nat({ max: 9 }), partCount, (length, duration, parts) => {
        const tests = named(Array.from({ length }, () => duration))
        const counts = splitByTime(tests, parts).map((positions) => positions.length)
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
      }),
    )
  })

  it('divides the same tests alike in whatever order they are given', () => {
    fc.assert(
      fc.property(durations, partCount, fc.nat(), (all, parts, by) => {
        const tests = named(all)
        const cut = tests.length === 0 ? 0 : by % tests.length
        const turned = [...tests.slice(cut), ...tests.slice(0, cut)].toReversed()
        expect(namesOf(turned, splitByTime(turned, parts))).toEqual(namesOf(tests, splitByTime(tests, parts)))
      }),
    )
  })

  it('keeps a long test apart', () => {
    expect(splitByTime(named([1, 1, 9, 1, 1, 1]), 2)).toEqual([[2], [0, 1, 3, 4, 5]])
  })
})

describe('partsWithin', () => {
  it('takes as few parts as keep to the time', () => {
    expect(partsWithin(named([10, 10, 10, 10]), 20, 50)).toBe(2)
    expect(partsWithin(named([10, 10, 10, 10]), 5, 50)).toBe(4)
    expect(partsWithin(named([10, 10, 10, 10]), 10, 3)).toBe(3)
    expect(partsWithin([], 10, 50)).toBe(1)
  })

  it('keeps to the time where the most parts would', () => {
    fc.assert(
      fc.property(durations, partCount, fc.integer({ min: 1, max: 500_000 }), (all, most, target) => {
        const tests = named(all)
        const longest = (parts: number) => Math.max(0, ...timesOf(tests, splitByTime(tests, parts)))
        const parts = partsWithin(tests, target, most)
        expect(parts).toBeLessThanOrEqual(most)
        fc.pre(longest(Math.max(1, Math.min(most, tests.length))) <= target)
        expect(longest(parts)).toBeLessThanOrEqual(target)
      }),
    )
  })
})

it('finds the median', () => {
  expect([median([]), median([3]), median([9, 1, 4]), median([1, 9, 4, 2])]).toEqual([null, 3, 4, 3])
})
