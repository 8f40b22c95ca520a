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
  /** The caller's own role here. */
  role: MemberRole
  /** Whether pipelines are opened to members team by team. */
  teams_enabled: boolean
  created_at: string
}

export const hasScope = (caller: Caller, scope: Scope): boolean => caller.token.scopes.includes(scope)

export const hasFeature = (org: Organization, feature: Feature): boolean => org.features.includes(feature)
