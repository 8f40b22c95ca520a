import { describe, expect, it } from 'vitest'
import { historyOf, lengthsOf } from './lengths.ts'
import { numbersFrom } from './random.ts'
import { slotTimes } from './slots.ts'

const jobs = (pipeline: string, step: string, ...seconds: readonly number[]) =>
  seconds.map((each) => ({ pipeline, step, seconds: each }))

describe('the lengths that a job may have', () => {
  const history = historyOf([
    ...jobs('web', 'unit', 10, 20, 30),
    ...jobs('web', 'lint', 1, 2),
    ...jobs('api', 'unit', 100),
  ])

  it('are those of its step, or else of its pipeline, or else of all jobs', () => {
    expect(lengthsOf(history, { pipeline: 'web', step: 'unit' })).toEqual([10, 20, 30])
    expect(lengthsOf(history, { pipeline: 'web', step: 'lint' })).toEqual([10, 20, 30, 1, 2])
    expect(lengthsOf(history, { pipeline: 'api', step: 'unit' })).toEqual([10, 20, 30, 1, 2, 100])
  })

  it('are what is left, once it runs', () => {
    expect(lengthsOf(history, { pipeline: 'web', step: 'unit' }, 15)).toEqual([5, 15])
    expect(lengthsOf(history, { pipeline: 'web', step: 'unit' }, 31)).toEqual([])
  })

  it('are not known by fewer than three', () => {
    const few = historyOf(jobs('web', 'unit', 10, 20))
    expect(lengthsOf(few, { pipeline: 'web', step: 'unit' })).toEqual([])
  })

  it('are those of the newest jobs', () => {
    const newest = Array.from({ length: 50 }, () => 5)
    const many = historyOf([...jobs('web', 'unit', ...newest), ...jobs('web', 'unit', 500)])
    expect(lengthsOf(many, { pipeline: 'web', step: 'unit' })).toEqual(newest)
  })
})

describe('the time of a slot in a concurrency group', () => {
  const once = (limit: number, holders: number[], ahead: number[]) =>
    slotTimes(
      { limit, holders: holders.map((each) => [each]), ahead: ahead.map((each) => [each]) },
      numbersFrom(1),
      1,
    )

  it('comes when the jobs before it have ended', () => {
    expect(once(1, [40], [])).toEqual([40])
    expect(once(1, [40], [60, 5])).toEqual([105])
    expect(once(2, [40, 10], [60, 5])).toEqual([45])
    expect(once(3, [40, 10], [])).toEqual([0])
  })

  it('comes later where the limit was lowered', () => {
    expect(once(1, [40, 10, 20], [])).toEqual([40])
  })

  it('is not known if the end of one of them is not', () => {
    expect(slotTimes({ limit: 1, holders: [[40], []], ahead: [] }, numbersFrom(1), 5)).toBeNull()
    expect(slotTimes({ limit: 1, holders: [[40]], ahead: [[]] }, numbersFrom(1), 5)).toBeNull()
  })
})
