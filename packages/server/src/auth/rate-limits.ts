// Counts the requests of the running minute, per organization and per user. Each process counts for itself, unless the
// limits are shared: then the counters are in the database.
import type pg from 'pg'
import {
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRes,
  type RateLimiterAbstract,
} from 'rate-limiter-flexible'
import type { Config } from '../config/config.ts'
import { ApiError } from '../lib/errors.ts'

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
  spend(userId: string, organizationId: string | null): Promise<Spent>
  /** Throws 429 when limits are enforced and one of them is exceeded. */
  refuseExceeded(spent: Spent): void
  /** The organization's count so far, without adding to it. */
  peek(organizationId: string): Promise<Count>
}

const windowSeconds = 60

export function rateLimits(settings: Config['rateLimits'], pool: pg.Pool): RateLimits {
  const limiter = (keyPrefix: string, points: number): RateLimiterAbstract => {
    const options = { keyPrefix, points, duration: windowSeconds }
    return settings.counted === 'by_all'
      ? new RateLimiterPostgres({ ...options, ...storage(pool) })
      : new RateLimiterMemory(options)
  }
  const users = limiter('user', settings.userPerMinute)
  const organizations = limiter('organization', settings.organizationPerMinute)

  return {
    async spend(userId, organizationId) {
      const [user, organization] = await Promise.all([
        consume(users, userId),
        organizationId === null ? null : consume(organizations, organizationId),
      ])
      return { user, organization }
    },
    refuseExceeded: settings.counted === 'for_show' ? () => {} : refuseExceeded,
    async peek(organizationId) {
      const found = await organizations.get(organizationId)
      const limit = organizations.points
      return found === null ? { limit, current: 0, reset: windowSeconds } : toCount(found, limit)
    },
  }
}

export const storage = (storeClient: pg.Pool) => ({
  storeClient,
  storeType: 'pool',
  tableName: 'rate_limits',
  tableCreated: true,
  clearExpiredByTimeout: false,
})

async function consume(limiter: RateLimiterAbstract, key: string): Promise<Count> {
  return toCount(await limiter.consume(key).catch(exceeded), limiter.points)
}

/** The library rejects with a RateLimiterRes when the limit is exceeded. Any other rejection is an error. */
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
