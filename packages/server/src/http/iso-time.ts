import { refused } from '../lib/errors.ts'

const isoTime =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?))?(?:Z| ?([+-]?)(\d\d):?(\d\d)?)?$/i

/** Without a zone it is UTC. A plus that was not encoded arrives as a blank. */
export function readTime(name: string, given: string | undefined): string | null {
  if (given === undefined) return null
  const [, day, clock = '00:00', sign, hours = '00', minutes = '00'] = isoTime.exec(given.trim()) ?? []
  const time = new Date(`${day}T${clock}${sign || '+'}${hours}:${minutes}`)
  // PostgreSQL and ISO 8601 agree on these years.
  if (time.getUTCFullYear() >= 1 && time.getUTCFullYear() <= 9999) return time.toISOString()
  throw refused(
    `Unknown ${name} "${given.slice(0, 100)}"; accepted is an ISO 8601 time such as 2026-01-02T03:04:05Z.`,
  )
}
