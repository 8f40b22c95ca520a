import type { Caller } from '../../../auth/caller.ts'
import { forbidden, validationFailed } from '../../../lib/errors.ts'
import type { TokenOrganization } from './queries.ts'
import type { CreateUserAccessTokenBody } from './schema.ts'

/** A token never creates a token that may more than itself. */
export function requireOwnScopes({ token }: Caller, scopes: readonly string[]): void {
  const foreign = scopes.find((scope) => !token.scopes.includes(scope))
  if (foreign !== undefined)
    throw forbidden(
      `Your access token doesn't have the ${foreign} scope, so it cannot create one that has it`,
    )
}

/** The expiry of the new token, which is never later than that of the token that creates it. */
export function expiryOf({ token }: Caller, days: number | null, now: Date): string | null {
  const expiresAt = days === null ? null : new Date(now.getTime() + days * 86_400_000).toISOString()
  const limit = token.expires_at
  if (limit !== null && (expiresAt === null || Date.parse(expiresAt) > Date.parse(limit)))
    throw validationFailed(`the token must expire before ${limit}, like the token that creates it`)
  return expiresAt
}

/** The slugs for the new token. Empty: all organizations of its owner, now and later. */
export function organizationsOf(
  { token }: Caller,
  reached: readonly TokenOrganization[],
  asked: CreateUserAccessTokenBody['organization_slugs'] = null,
): string[] {
  const unknown = asked?.find((slug) => !reached.some((organization) => organization.slug === slug))
  if (unknown !== undefined) throw validationFailed(`there is no organization "${unknown}"`)
  const named = reached.filter(({ slug }) => asked?.includes(slug) ?? true)
  const closed = named.find(({ role, restricts_tokens }) => restricts_tokens && role !== 'admin')
  if (closed !== undefined)
    throw forbidden(
      `In ${closed.slug} only administrators create access tokens. Name other organizations in organization_slugs`,
    )
  const unproven = named.find(({ sso_missing }) => sso_missing)
  if (unproven !== undefined)
    throw forbidden(
      `${unproven.slug} requires single sign-on. Sign in there first, or name other organizations in organization_slugs`,
    )
  if (asked === null && token.organization_ids === null) return []
  if (named.length === 0) throw validationFailed('your access token reaches no organization')
  return named.map(({ slug }) => slug)
}
