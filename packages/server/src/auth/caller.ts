// Who asks, and for which organization: what a token and a URL together say.
import type { Feature } from './features.ts'
import type { Scope } from './scopes.ts'

export type MemberRole = 'admin' | 'member'

export interface Caller {
  user: { id: string; name: string; email: string; created_at: string }
  token: {
    id: string
    description: string
    scopes: readonly string[]
    /** null: every organization its owner belongs to. */
    organization_ids: readonly string[] | null
    created_at: string
    expires_at: string | null
  }
  /** From where and with what, for the audit log. */
  request: { ip: string; userAgent: string | null }
}

export interface Organization {
  id: string
  slug: string
  name: string
  features: readonly string[]
  /** Switched off by an operator; the others that are not in `features` were never spoken of. */
  featuresOff: readonly string[]
  /** The caller's own role here. */
  role: MemberRole
  /** Whether pipelines are opened to members team by team. */
  teams_enabled: boolean
  created_at: string
}

export const hasScope = (caller: Caller, scope: Scope): boolean => caller.token.scopes.includes(scope)

/** Where hosted clusters are configured, agent images are there unless an operator has switched them off. */
export const hasFeature = (
  { features, featuresOff }: Pick<Organization, 'features' | 'featuresOff'>,
  feature: Feature,
  isHosting = false,
): boolean =>
  features.includes(feature) ||
  (feature === 'custom_agent_images' && isHosting && !featuresOff.includes(feature))
