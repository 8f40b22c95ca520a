import { expect, it } from 'vitest'
import { tickLabel } from './tick-label.ts'
import { tickStepMs } from './timescale.ts'

const labels = (stepMs: number, fromMs = 0, count = 4) =>
  Array.from({ length: count }, (_, at) => tickLabel(fromMs + at * stepMs, stepMs))

it('has tenths of seconds where marks are that close', () => {
  expect(labels(500)).toEqual(['0 s', '0.5 s', '1.0 s', '1.5 s'])
  expect(labels(500, 59_000)).toEqual(['59.0 s', '59.5 s', '1m 00.0s', '1m 00.5s'])
})

it('has seconds behind an hour and minutes behind a day where marks are that close', () => {
  expect(labels(1000)).toEqual(['0 s', '1 s', '2 s', '3 s'])
  expect(labels(30_000, 3_570_000)).toEqual(['59m 30s', '1h 00m 00s', '1h 00m 30s', '1h 01m 00s'])
  expect(labels(600_000, 86_400_000, 2)).toEqual(['1d 00h 00m', '1d 00h 10m'])
  expect(labels(3_600_000, 86_400_000, 2)).toEqual(['1d 0h', '1d 1h'])
})

it('is another one for each mark, at every scale and also behind a fold', () => {
  for (let pxPerMs = 0.4; pxPerMs > 1e-9; pxPerMs /= 1.7) {
    const stepMs = tickStepMs(pxPerMs)
    for (const fromMs of [0, 7_234_567, 200_000_000]) {
      const shown = labels(stepMs, fromMs, 200)
      expect(new Set(shown).size, `${stepMs} ms from ${fromMs}`).toBe(200)
    }
  }
})
