import type { Static } from 'typebox'
import type { TokenIssuerRow } from './queries.ts'
import type { TokenIssuer } from './schema.ts'

export const urlOfIssuer = (baseUrl: string, orgSlug: string, id: string): string =>
  `${baseUrl}/v2/organizations/${orgSlug}/token_issuers/${id}`

export const presentTokenIssuer = (
  baseUrl: string,
  orgSlug: string,
  row: TokenIssuerRow,
): Static<typeof TokenIssuer> => ({
  id: row.id,
  url: urlOfIssuer(baseUrl, orgSlug, row.id),
  issuer: row.issuer,
  audience: row.audience,
  jwks: row.jwks,
  claims: row.claims,
  service_account: { id: row.service_account_id, name: row.service_account_name },
  scopes: row.scopes,
  most_minutes: row.most_minutes,
  created_at: row.created_at,
  updated_at: row.updated_at,
})
