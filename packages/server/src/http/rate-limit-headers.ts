import type { FastifyReply } from 'fastify'
import type { Count, Spent } from '../auth/rate-limits.ts'

export function setRateLimitHeaders(reply: FastifyReply, { user, organization }: Spent): void {
  if (organization !== null) set(reply, ofOrganization, 'rest', organization)
  set(reply, ofUser, 'rest_user', user)
}

const names = (prefix: string) => ({
  scope: `${prefix}-Scope`,
  remaining: `${prefix}-Remaining`,
  limit: `${prefix}-Limit`,
  reset: `${prefix}-Reset`,
  warning: `${prefix}-Warning`,
})

const ofOrganization = names('RateLimit')
const ofUser = names('RateLimit-User')

function set(reply: FastifyReply, name: ReturnType<typeof names>, scope: string, count: Count): void {
  void reply.header(name.scope, scope)
  void reply.header(name.remaining, String(Math.max(0, count.limit - count.current)))
  void reply.header(name.limit, String(count.limit))
  void reply.header(name.reset, String(count.reset))
  if (count.current > count.limit) void reply.header(name.warning, 'You have exceeded your API rate limit.')
}
