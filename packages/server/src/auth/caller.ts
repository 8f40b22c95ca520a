// The caller and the organization of a request, as its token or session and its URL name them.
import type { Feature } from './features.ts'
import type { Scope } from './scopes.ts'

export type MemberRole = 'admin' | 'member'

export type OpenedWith = 'password' | 'link' | 'sso' | 'token'

/** The session in the cookie of a page. */
export interface CallerSession {
  id: string
  opened_with: OpenedWith
  created_at: string
  expires_at: string
  /** The organization whose single sign-on opened it. */
  organization_id: string | null
}

export interface Caller {
  user: { id: string; name: string; email: string; created_at: string }
  /** The rights of the request. A session without an access token has all scopes. */
  token: {
    /** null: a session that no access token opened. */
    id: string | null
    description: string
    scopes: readonly string[]
    /** null: every organization its owner belongs to. */
    organization_ids: readonly string[] | null
    allowed_ip_addresses: string | null
    created_at: string
    expires_at: string | null
    /** Its builds count as a machine's. */
    is_machine: boolean
  }
  /** null: the request has a bearer token. */
  session: CallerSession | null
  /** For the audit log. */
  request: { ip: string; userAgent: string | null }
}

export interface Organization {
  id: string
  slug: string
  name: string
  emoji: string | null
  features: readonly string[]
  /** Switched off by an operator. A feature in neither list has its default. */
  featuresOff: readonly string[]
  /** The caller's own role here. */
  role: MemberRole
  /** Whether pipelines are opened to members team by team. */
  teams_enabled: boolean
  created_at: string
}

export const hasScope = (caller: Caller, scope: Scope): boolean => caller.token.scopes.includes(scope)

export const hasFeature = ({ features }: Pick<Organization, 'features'>, feature: Feature): boolean =>
  features.includes(feature)

/** Where hosted clusters are configured, agent images are on by default. */
export const hasFeatureWhereHosted = (org: Organization, feature: Feature): boolean =>
  hasFeature(org, feature) || (feature === 'custom_agent_images' && !org.featuresOff.includes(feature))
