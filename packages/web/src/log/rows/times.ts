// The four forms of the time beside a row.

export const timeForms = ['off', 'absolute', 'since start', 'delta'] as const
export type TimeForm = (typeof timeForms)[number]

export const nextTimeForm = (form: TimeForm): TimeForm =>
  timeForms[(timeForms.indexOf(form) + 1) % timeForms.length] ?? 'off'

/** A smaller difference would be written as 0.0s. */
const leastDeltaMs = 50

interface RowTimes {
  time: number | null
  /** Of the row before. */
  before: number | null
  /** Of the first row of the log. */
  start: number | null
}

export function formatTime(form: TimeForm, { time, before, start }: RowTimes): string {
  if (time === null || form === 'off') return ''
  if (form === 'absolute') return clock(time)
  if (form === 'since start') return start === null ? '' : formatSeconds(time - start)
  return before === null || time - before < leastDeltaMs ? '' : `+${formatSeconds(time - before)}`
}

function clock(time: number): string {
  const date = new Date(time)
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()]
  return `${parts.map((part) => String(part).padStart(2, '0')).join(':')}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

/** `0.4s`, `2m 31s`, `1h 02m`. */
export function formatSeconds(ms: number): string {
  const seconds = Math.max(0, ms) / 1000
  if (seconds < 59.95) return `${seconds.toFixed(1)}s`
  const whole = Math.round(seconds)
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`
  return `${Math.floor(whole / 3600)}h ${two(Math.floor((whole % 3600) / 60))}m`
}

const two = (value: number) => String(value).padStart(2, '0')
