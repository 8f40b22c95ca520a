// Times as people read them.

const UNITS: ReadonlyArray<readonly [name: string, seconds: number]> = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
]

/** Such as `3 min ago`; `never` for null. */
export function describeAge(at: string | null, now = Date.now()): string {
  if (at === null) return 'never'
  const seconds = Math.round((now - Date.parse(at)) / 1000)
  // The clocks of server and client may differ.
  if (seconds < 1) return 'now'
  const [name, size] = UNITS.find(([, least]) => seconds >= least) ?? ['s', 1]
  return `${Math.floor(seconds / size)} ${name} ago`
}

/** Such as `in 5 d`; `expired` for a passed time; `never` for null. */
export function describeExpiry(at: string | null, now = Date.now()): string {
  if (at === null) return 'never'
  const seconds = Math.round((Date.parse(at) - now) / 1000)
  if (seconds <= 0) return 'expired'
  const [name, size] = UNITS.find(([, least]) => seconds >= least) ?? ['s', 1]
  return `in ${Math.floor(seconds / size)} ${name}`
}

/** Such as `in 2 min 5 s`; `any moment` for a time that is near or has passed. */
export function describeStart(at: string, now = Date.now()): string {
  const ms = Date.parse(at) - now
  return ms < 10_000 ? 'any moment' : `in ${describeDuration(ms)}`
}

/** Such as `4 s`, `2 min 5 s` or `3 h 12 min`. */
export function describeDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min${seconds % 60 === 0 ? '' : ` ${seconds % 60} s`}`
  return `${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`
}

/** Between two times of the server; up to now if `to` is null. */
export function durationBetween(from: string, to: string | null, now = Date.now()): string {
  return describeDuration((to === null ? now : Date.parse(to)) - Date.parse(from))
}
