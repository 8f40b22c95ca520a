import type { FastifyReply } from 'fastify'
import type { Count, Spent } from '../auth/rate-limits.ts'

export function setRateLimitHeaders(reply: FastifyReply, spent: Spent | null | undefined): void {
  if (!spent) return
  const { user, organization } = spent
  if (organization !== null) set(reply, ofOrganization, 'rest', organization)
  set(reply, ofUser, 'rest_user', user)
}

const ofOrganization = {
  scope: 'ratelimit-scope',
  remaining: 'ratelimit-remaining',
  limit: 'ratelimit-limit',
  reset: 'ratelimit-reset',
  warning: 'ratelimit-warning',
}

const ofUser = {
  scope: 'ratelimit-user-scope',
  remaining: 'ratelimit-user-remaining',
  limit: 'ratelimit-user-limit',
  reset: 'ratelimit-user-reset',
  warning: 'ratelimit-user-warning',
}

function set(reply: FastifyReply, name: typeof ofUser, scope: string, count: Count): void {
  void reply.header(name.scope, scope)
  void reply.header(name.remaining, String(Math.max(0, count.limit - count.current)))
  void reply.header(name.limit, String(count.limit))
  void reply.header(name.reset, String(count.reset))
  if (count.current > count.limit) void reply.header(name.warning, 'You have exceeded your API rate limit.')
}
