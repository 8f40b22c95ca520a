// Headers that go out with every answer.
import type { FastifyRequest } from 'fastify'
import type { Count } from '../auth/rate-limits.ts'

/**
 * Each name is followed by its value; names are written small, as the framework would make them each time. Any page may
 * call the API: what authorizes is the bearer token, which no browser adds by itself.
 */
export function commonHeaders({ id, spent, server }: FastifyRequest): string[] {
  const headers = [
    'x-request-id',
    id,
    'x-content-type-options',
    'nosniff',
    'access-control-allow-origin',
    '*',
    'access-control-expose-headers',
    'Link, X-Request-Id, RateLimit-Remaining, RateLimit-Limit, RateLimit-Reset',
  ]
  // The client connects anew, and the balancer sends it elsewhere.
  if (server.lifecycle.isStopping) headers.push('connection', 'close')
  // A URL that cannot be read makes a request without it.
  if (!spent) return headers
  if (spent.organization !== null) addLimit(headers, ofOrganization, spent.organization)
  addLimit(headers, ofUser, spent.user)
  return headers
}

const namesFor = (kind: string, scope: string) => ({
  scope: `${kind}-scope`,
  scopeValue: scope,
  remaining: `${kind}-remaining`,
  limit: `${kind}-limit`,
  reset: `${kind}-reset`,
  warning: `${kind}-warning`,
})

const ofOrganization = namesFor('ratelimit', 'rest')
const ofUser = namesFor('ratelimit-user', 'rest_user')

function addLimit(headers: string[], names: typeof ofUser, { limit, current, reset }: Count): void {
  headers.push(
    names.scope,
    names.scopeValue,
    names.remaining,
    String(Math.max(0, limit - current)),
    names.limit,
    String(limit),
    names.reset,
    String(reset),
  )
  if (current > limit) headers.push(names.warning, 'You have exceeded your API rate limit.')
}
