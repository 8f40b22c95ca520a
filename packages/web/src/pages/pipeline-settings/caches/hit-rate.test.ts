import { expect, it } from 'vitest'
import { describeHitRate } from './hit-rate.ts'

const now = Date.parse('2026-03-31T12:00:00Z')
const on = (day: string, hits: number, misses: number) => ({ day, hits, misses })

it('adds up the last 30 days', () => {
  expect(
    describeHitRate([on('2026-03-31', 2, 1), on('2026-03-02', 1, 0), on('2026-03-01', 0, 96)], now),
  ).toBe('4 times jobs asked for a cache in the last 30 days, and found one 75 % of the time.')
})

it('says all only of all, and none only of none', () => {
  expect(describeHitRate([on('2026-03-31', 9999, 1)], now)).toContain(' 99 % ')
  expect(describeHitRate([on('2026-03-31', 1, 9999)], now)).toContain(' 1 % ')
  expect(describeHitRate([on('2026-03-31', 1, 0)], now)).toContain('Once a job asked')
  expect(describeHitRate([on('2026-03-31', 0, 2)], now)).toContain('found none.')
})

it('says nothing when nobody asked', () => {
  expect(describeHitRate([on('2025-03-31', 1, 0)], now)).toBeNull()
})
