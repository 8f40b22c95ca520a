import type { Count, Spent } from '../auth/rate-limits.ts'

export function rateLimitHeaders({ user, organization }: Spent): Record<string, string> {
  return { ...headers('RateLimit', 'rest', organization), ...headers('RateLimit-User', 'rest_user', user) }
}

function headers(prefix: string, scope: string, count: Count | null): Record<string, string> {
  if (count === null) return {}
  return {
    [`${prefix}-Scope`]: scope,
    [`${prefix}-Remaining`]: String(Math.max(0, count.limit - count.current)),
    [`${prefix}-Limit`]: String(count.limit),
    [`${prefix}-Reset`]: String(count.reset),
    ...(count.current > count.limit
      ? { [`${prefix}-Warning`]: 'You have exceeded your API rate limit.' }
      : {}),
  }
}
