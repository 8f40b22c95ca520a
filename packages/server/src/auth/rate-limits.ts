// Requests of the running minute, per organization and per user. Each process counts for itself, which costs nothing and
// is enough to keep one client from taking all of it; counted by all, the counters live in the database.
import type pg from 'pg'
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import type { Config } from '../config.ts'
import { ApiError } from '../lib/errors.ts'
import type { Soon } from '../lib/soon.ts'

export interface Count {
  limit: number
  current: number
  /** Seconds until the window ends. */
  reset: number
}

export interface Spent {
  user: Count
  organization: Count | null
}

export interface RateLimits {
  /** Counts one request. */
  spend(userId: string, organizationId: string | null): Soon<Spent>
  /** Throws 429 when limits are enforced and one of them is exceeded. */
  refuseExceeded(spent: Spent): void
  /** The organization's count so far, without adding to it. */
  peek(organizationId: string): Soon<Count>
}

const windowSeconds = 60

export const rateLimits = (settings: Config['rateLimits'], pool: pg.Pool): RateLimits =>
  settings.counted === 'by_all' ? sharedLimits(settings, pool) : ownLimits(settings)

function sharedLimits(settings: Config['rateLimits'], pool: pg.Pool): RateLimits {
  const limiter = (keyPrefix: string, points: number) =>
    new RateLimiterPostgres({
      storeClient: pool,
      storeType: 'pool',
      tableName: 'rate_limits',
      tableCreated: true,
      clearExpiredByTimeout: false,
      keyPrefix,
      points,
      duration: windowSeconds,
    })
  const users = limiter('user', settings.userPerMinute)
  const organizations = limiter('organization', settings.organizationPerMinute)

  const spend = async (from: RateLimiterPostgres, key: string, limit: number) =>
    toCount(await from.consume(key).catch(exceeded), limit)

  return {
    async spend(userId, organizationId) {
      const [user, organization] = await Promise.all([
        spend(users, userId, settings.userPerMinute),
        organizationId === null ? null : spend(organizations, organizationId, settings.organizationPerMinute),
      ])
      return { user, organization }
    },
    refuseExceeded,
    async peek(organizationId) {
      const found = await organizations.get(organizationId)
      const limit = settings.organizationPerMinute
      return found === null ? { limit, current: 0, reset: windowSeconds } : toCount(found, limit)
    },
  }
}

/** A map and a clock, since every request passes here and the library's memory limiter takes ten times as long. */
function ownLimits(settings: Config['rateLimits']): RateLimits {
  const users = new Map<string, Window>()
  const organizations = new Map<string, Window>()
  return {
    spend: (userId, organizationId) => ({
      user: countIn(users, userId, settings.userPerMinute, 1),
      organization:
        organizationId === null
          ? null
          : countIn(organizations, organizationId, settings.organizationPerMinute, 1),
    }),
    refuseExceeded: settings.counted === 'by_process' ? refuseExceeded : () => {},
    peek: (organizationId) => countIn(organizations, organizationId, settings.organizationPerMinute, 0),
  }
}

interface Window {
  current: number
  endsAt: number
}

const mostWindows = 100_000

function countIn(windows: Map<string, Window>, key: string, limit: number, points: number): Count {
  // Whole milliseconds: parts of them do not add up, and a minute could have 61 seconds.
  const now = Math.floor(performance.now())
  let window = windows.get(key)
  if (window === undefined || window.endsAt <= now) {
    if (windows.size >= mostWindows) windows.clear()
    window = { current: 0, endsAt: now + windowSeconds * 1000 }
    windows.set(key, window)
  }
  window.current += points
  return { limit, current: window.current, reset: Math.ceil((window.endsAt - now) / 1000) }
}

/** A limiter rejects with the same kind of answer when the limit is exceeded; any other rejection is a real error. */
function exceeded(reason: unknown): RateLimiterRes {
  if (reason instanceof RateLimiterRes) return reason
  throw reason
}

const toCount = (found: RateLimiterRes, limit: number): Count => ({
  limit,
  current: found.consumedPoints,
  reset: Math.max(0, Math.ceil(found.msBeforeNext / 1000)),
})

function refuseExceeded({ user, organization }: Spent): void {
  for (const [scope, count] of [
    ['rest', organization],
    ['rest_user', user],
  ] as const) {
    if (count === null || count.current <= count.limit) continue
    throw new ApiError(
      429,
      `You have exceeded your API rate limit. Please wait ${count.reset} seconds before making more requests.`,
      { details: { scope, limit: count.limit, current: count.current, reset: count.reset } },
    )
  }
}
