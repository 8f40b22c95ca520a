import { expect, test } from 'vitest'
import { pollInterval } from './poll-interval.ts'

test('grow up to the maximum while nothing is found, and are short again afterwards', () => {
  const pause = pollInterval(100, 500)
  const idle = Array.from({ length: 30 }, () => pause(0))

  expect(idle).toEqual(idle.toSorted((a, b) => a - b))
  expect(idle[0]).toBeCloseTo(110)
  expect(idle.at(-1)).toBe(500)
  expect(pause(1)).toBe(100)
  expect(pause(0)).toBeCloseTo(110)
})
