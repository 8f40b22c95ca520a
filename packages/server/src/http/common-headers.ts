// Headers of every response.
import type { FastifyRequest } from 'fastify'
import type { Count } from '../auth/rate-limits.ts'

/**
 * Pages of any origin may call the API with a bearer token, which no browser adds by itself. Responses to a cookie are for
 * our own pages alone, and no cache keeps them.
 */
export const commonHeaders = ({ id, spent, server, hasSession }: FastifyRequest): Record<string, string> => ({
  'X-Request-Id': id,
  'X-Content-Type-Options': 'nosniff',
  ...(hasSession ? { 'Cache-Control': 'no-store' } : { 'Access-Control-Allow-Origin': '*' }),
  'Access-Control-Expose-Headers':
    'Link, X-Request-Id, RateLimit-Remaining, RateLimit-Limit, RateLimit-Reset',
  // Clients reconnect, and the load balancer sends them to another server.
  ...(server.lifecycle.isStopping ? { Connection: 'close' } : {}),
  // A request with an unreadable URL never gets the property.
  ...(spent?.organization ? limitHeaders('RateLimit', 'rest', spent.organization) : {}),
  ...(spent ? limitHeaders('RateLimit-User', 'rest_user', spent.user) : {}),
})

const limitHeaders = (prefix: string, scope: string, { limit, current, reset }: Count) => ({
  [`${prefix}-Scope`]: scope,
  [`${prefix}-Remaining`]: String(Math.max(0, limit - current)),
  [`${prefix}-Limit`]: String(limit),
  [`${prefix}-Reset`]: String(reset),
  ...(current > limit ? { [`${prefix}-Warning`]: 'You have exceeded your API rate limit.' } : {}),
})
