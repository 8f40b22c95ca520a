import { describe, expect, it } from 'vitest'
import { roundDurations, showCount, showMoment, showRoundDuration, wholeNumbers } from './axes.ts'

describe('axes', () => {
  it('count by numbers that rise, each at most 2.5 times the one before, so that one fits whatever the size', () => {
    const steps = wholeNumbers.slice(1).map((number, index) => number / (wholeNumbers[index] ?? 0))
    expect(Math.max(...steps)).toBe(2.5)
    expect(Math.min(...steps)).toBe(2)
    expect(roundDurations).toEqual(roundDurations.toSorted((a, b) => a - b))
    expect(new Set(roundDurations).size).toBe(roundDurations.length)
  })

  it('show round durations in one unit, all of them apart', () => {
    expect([0, 0.5, 30, 300, 5400, 86_400, 604_800].map(showRoundDuration)).toEqual([
      '0',
      '0.5 s',
      '30 s',
      '5 min',
      '1.5 h',
      '1 d',
      '7 d',
    ])
    expect(new Set(roundDurations.map(showRoundDuration)).size).toBe(roundDurations.length)
  })

  it('show large counts in a few characters', () => {
    for (const count of wholeNumbers) expect(showCount(count).length).toBeLessThanOrEqual(5)
    expect(showCount(5000)).toBe('5,000')
    expect(showCount(20_000)).toBe('20K')
  })

  it('show where a day begins as its date, in the zone that is given', () => {
    const at = Date.parse('2026-11-19T00:00:00Z') / 1000
    expect(showMoment(at, 'UTC')).toMatch(/19/)
    expect(showMoment(at, 'UTC')).not.toContain(':')
    expect(showMoment(at + 3600, 'UTC')).toContain(':')
    expect(showMoment(at, 'Asia/Tokyo')).toContain(':')
    expect(showMoment(at - 9 * 3600, 'Asia/Tokyo')).toMatch(/19/)
  })
})
