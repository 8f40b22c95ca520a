// When the groups of a log began. The times that an agent reports beside the output take precedence over those in it.
import type { Group } from './rows/outline.ts'

/**
 * Nanoseconds since 1970 as text, since a number cannot hold them exactly. A group whose time is not known has that of the
 * group before it.
 */
export function headerTimes(groups: readonly Group[], reported: Record<string, string>): string[] {
  let latest = '0'
  return groups.map(({ time }, index) => {
    latest = nanoseconds(reported[index]) ?? (time === null ? latest : `${time}000000`)
    return latest
  })
}

/** RFC 3339 with up to nine digits behind the seconds; null for what is no time. */
export function nanoseconds(time: string | undefined): string | null {
  const [, seconds, fraction = '', zone] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(time ?? '') ?? []
  const ms = Date.parse(`${seconds}${zone}`)
  return Number.isNaN(ms) ? null : `${ms / 1000}${fraction.padEnd(9, '0')}`
}
