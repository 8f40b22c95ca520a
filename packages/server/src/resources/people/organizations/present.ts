import type { Static } from 'typebox'
import type { Count } from '../../../auth/rate-limits.ts'
import { graphqlId } from '../../../lib/ids.ts'
import type { OrganizationRow } from './queries.ts'
import type { Organization, RateLimitScopes } from './schema.ts'

export function presentOrganization(url: string, org: OrganizationRow): Static<typeof Organization> {
  const self = `${url}/v2/organizations/${org.slug}`
  return {
    id: org.id,
    graphql_id: graphqlId('Organization', org.id),
    url: self,
    web_url: `${url}/${org.slug}`,
    name: org.name,
    slug: org.slug,
    emoji: org.emoji,
    pipelines_url: `${self}/pipelines`,
    agents_url: `${self}/agents`,
    emojis_url: `${self}/emojis`,
    created_at: org.created_at,
  }
}

// Clients read both scopes. There is no GraphQL API, so its limit is never used.
const graphql: Count = { limit: 20_000, current: 0, reset: 300 }

export function presentRateLimit(
  rest: Count,
  { isEnforced, now }: { isEnforced: boolean; now: Date },
): Static<typeof RateLimitScopes> {
  const scope = (count: Count, enforced: boolean) => ({
    ...count,
    reset_at: new Date(now.getTime() + count.reset * 1000).toISOString(),
    enforced,
  })
  return { scopes: { rest: scope(rest, isEnforced), graphql: scope(graphql, false) } }
}
