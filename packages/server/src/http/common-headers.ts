// Headers of every response.
import type { FastifyRequest } from 'fastify'
import type { Count } from '../auth/rate-limits.ts'

/**
 * Pages of any origin may call the API with a bearer token, which no browser adds by itself: the endpoints that say so, and errors
 * of addresses without one. Responses to a cookie are for our own pages alone, and no cache keeps them.
 */
export const commonHeaders = (request: FastifyRequest): Record<string, string> => {
  const { id, spent, server, hasSession } = request
  return {
    'X-Request-Id': id,
    'X-Content-Type-Options': 'nosniff',
    ...(hasSession ? { 'Cache-Control': 'no-store' } : {}),
    ...(!hasSession && isForAnyOrigin(request) ? { 'Access-Control-Allow-Origin': '*' } : {}),
    'Access-Control-Expose-Headers':
      'Link, X-Request-Id, RateLimit-Remaining, RateLimit-Limit, RateLimit-Reset',
    // Clients reconnect, and the load balancer sends them to another server.
    ...(server.lifecycle.isStopping ? { Connection: 'close' } : {}),
    // A request with an unreadable URL never gets the property.
    ...(spent?.organization ? limitHeaders('RateLimit', 'rest', spent.organization) : {}),
    ...(spent ? limitHeaders('RateLimit-User', 'rest_user', spent.user) : {}),
  }
}

/** An unknown or unreadable URL has no route. */
const isForAnyOrigin = ({ method, routeOptions }: FastifyRequest): boolean =>
  method === 'OPTIONS' ||
  (routeOptions as typeof routeOptions | undefined)?.url === undefined ||
  routeOptions.config.crossOrigin === true

const limitHeaders = (prefix: string, scope: string, { limit, current, reset }: Count) => ({
  [`${prefix}-Scope`]: scope,
  [`${prefix}-Remaining`]: String(Math.max(0, limit - current)),
  [`${prefix}-Limit`]: String(limit),
  [`${prefix}-Reset`]: String(reset),
  ...(current > limit ? { [`${prefix}-Warning`]: 'You have exceeded your API rate limit.' } : {}),
})
