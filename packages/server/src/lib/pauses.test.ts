import { expect, test } from 'vitest'
import { pauses } from './pauses.ts'

test('become longer up to the longest while nothing is found, and short again with what is', () => {
  const pause = pauses(100, 500)
  const idle = Array.from({ length: 30 }, () => pause(false))

  expect(idle).toEqual(idle.toSorted((a, b) => a - b))
  expect(idle[0]).toBeCloseTo(110)
  expect(idle.at(-1)).toBe(500)
  expect(pause(true)).toBe(100)
  expect(pause(false)).toBeCloseTo(110)
})
