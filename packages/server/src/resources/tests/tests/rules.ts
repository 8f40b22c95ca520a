import { badRequest } from '../../../lib/errors.ts'
import { readTime } from '../../builds/builds/rules.ts'
import type { Days } from './queries.ts'
import type { Period } from './schema.ts'

const hourMs = 60 * 60 * 1000

const hours: Readonly<Record<Period, number>> = {
  '1hour': 1,
  '4hours': 4,
  '1day': 24,
  '7days': 7 * 24,
  '14days': 14 * 24,
  '28days': 28 * 24,
  '90days': 90 * 24,
}

interface Window {
  period?: Period | undefined
  min_timestamp?: string | undefined
  max_timestamp?: string | undefined
}

/** Results are added up by the day, so the days of both ends count as a whole. */
export function readDays({ period, min_timestamp: from, max_timestamp: to }: Window, now: Date): Days {
  if (period !== undefined && (from !== undefined || to !== undefined)) {
    throw badRequest('period cannot be combined with min_timestamp or max_timestamp.')
  }
  const last = readTime('max_timestamp', to) ?? now.toISOString()
  const first =
    readTime('min_timestamp', from) ??
    new Date(new Date(last).getTime() - hours[period ?? '7days'] * hourMs).toISOString()
  if (first > last) throw badRequest('min_timestamp must be before max_timestamp.')
  return { first: dayOf(first), last: dayOf(last) }
}

/** PostgreSQL knows no year 0. */
const dayOf = (time: string): string => (time < '0001' ? '0001-01-01' : time.slice(0, 10))
