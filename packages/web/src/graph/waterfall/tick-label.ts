import { formatDuration } from '../../parts/time/durations.ts'

const units = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const

/** A duration, as precise as the step between two marks, so that no two of them look the same. */
export function tickLabel(elapsedMs: number, stepMs: number): string {
  const hasTenths = stepMs < 1000
  const tenths = hasTenths ? Math.round(elapsedMs / 100) : 10 * Math.round(elapsedMs / 1000)
  const seconds = tenths / 10
  if (seconds < 60) return hasTenths && tenths > 0 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds)} s`
  const largest = units.findIndex(([, size]) => seconds >= size)
  const smallest = units.findIndex(([, size]) => stepMs >= size * 1000)
  // It has two units.
  if (smallest !== -1 && smallest <= largest + 1) return formatDuration(seconds)
  let rest = tenths
  return units
    .slice(largest, smallest === -1 ? undefined : smallest + 1)
    .map(([unit, size], at) => {
      const count = Math.floor(rest / (10 * size))
      const tenth = unit === 's' && hasTenths ? `.${rest % 10}` : ''
      rest -= 10 * size * count
      return `${at === 0 ? count : String(count).padStart(2, '0')}${tenth}${unit}`
    })
    .join(' ')
}
