import type { Static } from 'typebox'
import type { SsoRow } from './queries.ts'
import { defaults } from './rules.ts'
import type { Sso } from './schema.ts'

const signInUrl = (url: string, orgSlug: string): string => `${url}/-/sso/${orgSlug}`

export const redirectUri = (url: string, orgSlug: string): string => `${signInUrl(url, orgSlug)}/callback`

export const presentSso = (url: string, orgSlug: string, sso: SsoRow | undefined): Static<typeof Sso> => ({
  url: `${url}/v2/organizations/${orgSlug}/sso`,
  enabled: sso?.is_enabled ?? false,
  issuer: sso?.issuer ?? null,
  client_id: sso?.client_id ?? null,
  scopes: sso?.scopes ?? defaults.scopes,
  groups_claim: sso?.groups_claim ?? defaults.groups_claim,
  group_teams: sso?.group_teams ?? [],
  email_domains: sso?.email_domains ?? defaults.email_domains,
  provision: sso?.provision ?? defaults.provision,
  sso_required: sso?.is_required ?? defaults.is_required,
  redirect_uri: redirectUri(url, orgSlug),
  sign_in_url: signInUrl(url, orgSlug),
  created_at: sso?.created_at ?? null,
  updated_at: sso?.updated_at ?? null,
})
