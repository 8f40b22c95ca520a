import { badRequest, validationFailed } from '../../../lib/errors.ts'
import { isOutboundUrl } from '../../../lib/outbound.ts'
import { isStorable } from '../../../lib/unstorable.ts'
import type { GroupTeam } from './queries.ts'

export const defaults = {
  scopes: ['openid', 'profile', 'email'],
  groups_claim: 'groups',
  email_domains: [] as string[],
  provision: false,
  is_required: false,
  is_enabled: true,
}

/** A server that is itself reached over https asks providers over https only. */
export function requireIssuer(baseUrl: string, issuer: string): void {
  if (!isOutboundUrl(issuer) || /[?#]/.test(issuer)) {
    throw validationFailed('issuer must be a URL without a user name, a query and a fragment')
  }
  if (new URL(issuer).protocol !== 'https:' && baseUrl.startsWith('https:')) {
    throw validationFailed('issuer must begin with https:')
  }
}

export const readScopes = (scopes: readonly string[]): string[] => [...new Set(['openid', ...scopes])]

export const readDomains = (domains: readonly string[]): string[] => [
  ...new Set(domains.map((domain) => domain.toLowerCase())),
]

/** Each pair of a group and a team once. */
export function readGroupTeams(groupTeams: readonly GroupTeam[]): GroupTeam[] {
  const read = groupTeams.map(({ group, team_id: id }) => ({ group, team_id: id.toLowerCase() }))
  const byPair = new Map(read.map((pair) => [JSON.stringify([pair.group, pair.team_id]), pair]))
  return [...byPair.values()]
}

/** The claims of a person that the provider vouches for. */
export interface Claims {
  /** Unique among the people of the issuer, and never passed on. */
  subject: string
  email: string | null
  isEmailVerified: boolean
  name: string | null
  groups: readonly string[]
}

const mostGroups = 5000
const mostSubjectLength = 255

/** The provider may send anything. */
export function readClaims(claims: Readonly<Record<string, unknown>>, groupsClaim: string): Claims {
  const { sub, email, email_verified: isVerified, name } = claims
  if (typeof sub !== 'string' || sub === '' || sub.length > mostSubjectLength || !isStorable(sub)) {
    throw badRequest('The provider does not say who you are: the claim sub is not valid.')
  }
  const groups = [claims[groupsClaim] ?? []].flat().slice(0, mostGroups)
  return {
    subject: sub,
    email: textOf(email),
    // Some providers send a text.
    isEmailVerified: isVerified === true || isVerified === 'true',
    name: textOf(name)?.slice(0, 255).toWellFormed() ?? null,
    groups: groups.filter((group) => typeof group === 'string'),
  }
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' && isStorable(value) ? value.trim() : null

/** Whether the address may be compared with those of users and invitations. */
export function isTrusted({ email, isEmailVerified }: Claims, domains: readonly string[]): boolean {
  if (email === null) return false
  return isEmailVerified || domains.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase())
}

/** The teams that the groups lead to. */
export const teamsOfGroups = (groups: readonly string[], groupTeams: readonly GroupTeam[]): string[] => {
  const own = new Set(groups)
  return [...new Set(groupTeams.filter(({ group }) => own.has(group)).map(({ team_id: id }) => id))]
}
