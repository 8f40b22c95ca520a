import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/pool.ts'
import { notFound } from '../../../lib/errors.ts'
import type { PublicKeys } from '../../../auth/issuer-keys.ts'

/** What an administrator decides. */
export interface TokenIssuerFields {
  issuer: string
  audience: string
  /** null: found at the issuer. */
  jwks: PublicKeys | null
  claims: Record<string, string[]>
  service_account_id: string
  scopes: string[]
  most_minutes: number
}

export interface TokenIssuerRow extends TokenIssuerFields {
  id: string
  service_account_name: string
  created_at: string
  updated_at: string
}

const columns = sql`
  i.id, i.issuer, i.audience, i.jwks, i.claims, i.service_account_id, u.name as service_account_name, i.scopes,
  i.most_minutes, i.created_at, i.updated_at`

const select = sql`
  select ${columns} from token_issuers i join users u on u.id = i.service_account_id`

export async function listInOrg(
  db: Db,
  orgId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<TokenIssuerRow[]> {
  const { rows } = await sql<TokenIssuerRow>`${select}
    where i.organization_id = ${orgId} order by i.created_at, i.id limit ${limit} offset ${offset}`.execute(
    db,
  )
  return rows
}

export async function getInOrg(db: Db, orgId: string, id: string): Promise<TokenIssuerRow> {
  const { rows } = await sql<TokenIssuerRow>`${select}
    where i.organization_id = ${orgId} and i.id = ${id}`.execute(db)
  const [issuer] = rows
  if (issuer === undefined) throw notFound('No token issuer found')
  return issuer
}

/** Like `getInOrg`, and until the transaction ends no other one updates, deletes or uses it. */
export async function lockInOrg(trx: Trx, orgId: string, id: string): Promise<TokenIssuerRow> {
  await sql`select from token_issuers where organization_id = ${orgId} and id = ${id} for update`.execute(trx)
  return getInOrg(trx, orgId, id)
}

/** Creates it, or replaces what an administrator has decided. The account must be one of the organization. */
export async function upsert(trx: Trx, orgId: string, id: string, fields: TokenIssuerFields): Promise<void> {
  const {
    issuer,
    audience,
    jwks,
    claims,
    service_account_id: account,
    scopes,
    most_minutes: minutes,
  } = fields
  await sql`
    insert into token_issuers (id, organization_id, service_account_id, issuer, audience, jwks, claims, scopes, most_minutes)
    values (${id}, ${orgId}, ${account}, ${issuer}, ${audience}, ${jwks === null ? null : JSON.stringify(jwks)},
      ${JSON.stringify(claims)}, ${scopes}, ${minutes})
    on conflict (id) do update set service_account_id = excluded.service_account_id, issuer = excluded.issuer,
      audience = excluded.audience, jwks = excluded.jwks, claims = excluded.claims, scopes = excluded.scopes,
      most_minutes = excluded.most_minutes, updated_at = now()
    where token_issuers.organization_id = ${orgId}`.execute(trx)
}

/** The tokens that were given for those of the issuer go with it. */
export async function deleteInOrg(trx: Trx, orgId: string, id: string): Promise<void> {
  await sql`delete from token_issuers where organization_id = ${orgId} and id = ${id}`.execute(trx)
}

export async function deleteTokens(trx: Trx, orgId: string, id: string): Promise<void> {
  await sql`
    delete from api_access_tokens t using token_issuers i
    where i.organization_id = ${orgId} and i.id = ${id} and t.token_issuer_id = i.id`.execute(trx)
}

export interface TrustRow extends TokenIssuerRow {
  organization_id: string
  organization_slug: string
  service_account_email: string
  has_owner: boolean
}

const selectTrust = sql`
  select ${columns}, i.organization_id, o.slug as organization_slug, u.email as service_account_email,
    exists (
      select from service_account_owners w
      where w.organization_id = i.organization_id and w.service_account_id = i.service_account_id) as has_owner
  from token_issuers i join users u on u.id = i.service_account_id
  join organizations o on o.id = i.organization_id`

/** For programs without a token: what they name says which organization it is. */
export async function findTrust(db: Db, id: string): Promise<TrustRow | undefined> {
  const { rows } = await sql<TrustRow>`${selectTrust} where i.id = ${id}`.execute(db)
  return rows[0]
}

/** Undefined: it was changed since. Until the transaction ends, no other one updates or deletes it. */
export async function lockUnchanged(trx: Trx, before: TrustRow): Promise<TrustRow | undefined> {
  const { rows } = await sql<TrustRow>`${selectTrust}
    where i.id = ${before.id} and i.organization_id = ${before.organization_id}
      and i.updated_at = ${before.updated_at} for share of i`.execute(trx)
  return rows[0]
}
