import { describe, expect, it } from 'vitest'
import { formatSeconds, formatTime, nextTimeForm, timeForms, type TimeForm } from './times.ts'

describe('times', () => {
  it('cycles through four forms', () => {
    let form: TimeForm = 'off'
    const seen = timeForms.map(() => (form = nextTimeForm(form)))
    expect(seen).toEqual(['absolute', 'since start', 'delta', 'off'])
  })

  it.each([
    [0, '0.0s'],
    [400, '0.4s'],
    [59_949, '59.9s'],
    [59_960, '1m 00s'],
    [151_000, '2m 31s'],
    [3_599_600, '1h 00m'],
    [7_320_000, '2h 02m'],
  ])('writes %d ms as %s', (ms, text) => expect(formatSeconds(ms)).toBe(text))

  it('writes every form, and nothing where no time is known', () => {
    const time = new Date(2026, 10, 17, 14, 2, 31, 45).getTime()
    const times = { time, before: time - 1500, start: time - 151_000 }
    expect(formatTime('absolute', times)).toBe('14:02:31.045')
    expect(formatTime('since start', times)).toBe('2m 31s')
    expect(formatTime('delta', times)).toBe('+1.5s')
    expect(formatTime('off', times)).toBe('')
    expect(formatTime('delta', { ...times, before: null })).toBe('')
    expect(formatTime('absolute', { ...times, time: null })).toBe('')
  })
})
