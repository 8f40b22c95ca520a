// How times and durations are written.

/** The durations that axes count by, in seconds. */
export const roundSeconds = [
  0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400,
]

/** `3 s`, `2m 05s`, `1h 04m`, `3d 2h`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  if (seconds < 1 && seconds > 0) return `${Math.max(1, Math.round(seconds * 1000))} ms`
  if (whole < 60) return `${whole} s`
  const two = (value: number) => String(value).padStart(2, '0')
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`
  if (whole < 86_400) return `${Math.floor(whole / 3600)}h ${two(Math.floor((whole % 3600) / 60))}m`
  return `${Math.floor(whole / 86_400)}d ${Math.floor((whole % 86_400) / 3600)}h`
}

const week = 7 * 86_400

/** `just now`, `3 min ago`, `in 2 h`; a date beyond seven days. */
export function formatRelative(timeMs: number, nowMs: number): string {
  const seconds = Math.round((nowMs - timeMs) / 1000)
  const size = Math.abs(seconds)
  if (size < 10) return 'just now'
  if (size >= week) return new Date(timeMs).toLocaleDateString(undefined, dayOf(timeMs, nowMs))
  const amount =
    size < 60
      ? `${size} s`
      : size < 3600
        ? `${Math.floor(size / 60)} min`
        : size < 86_400
          ? `${Math.floor(size / 3600)} h`
          : `${Math.floor(size / 86_400)} d`
  return seconds > 0 ? `${amount} ago` : `in ${amount}`
}

const dayOf = (timeMs: number, nowMs: number): Intl.DateTimeFormatOptions => ({
  day: 'numeric',
  month: 'short',
  ...(new Date(timeMs).getFullYear() === new Date(nowMs).getFullYear() ? {} : { year: 'numeric' }),
})

/** The reader's zone, then UTC. */
export function formatExact(timeMs: number): string {
  const time = new Date(timeMs)
  const local = time.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' })
  return `${local} · ${time
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC')}`
}
