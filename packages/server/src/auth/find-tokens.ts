// Finds access tokens and sessions in the database, with their owner and one organization. token-cache.ts caches what is
// found.
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db/pool.ts'
import { hashToken } from '../lib/ids.ts'
import type { Caller, CallerSession, OpenedWith, Organization } from './caller.ts'
import { scopes } from './scopes.ts'

/** What the caller of a request may use: an access token, or a session. */
export type FoundToken = Caller['token'] & {
  /** null: the request has the token itself. */
  session: CallerSession | null
  user: Caller['user']
  /** The organization with the given slug. null: there is none, or the owner is not a member of it. */
  organization: FoundOrganization | null
}

interface FoundOrganization extends Organization {
  allowed_ip_addresses: string | null
  /** The organization requires single sign-on of the user, and the session has not passed it. */
  sso_missing: boolean
}

/** `token`: the access token, or the value of the session's cookie. */
export type FindToken<Found extends FoundToken = FoundToken> = (
  token: string,
  organizationSlug: string | null,
) => Promise<Found | null>

export type FoundSession = FoundToken & {
  /** null: a session of an earlier release. */
  page_secret_hash: Buffer | null
}

export const tokenFinder =
  (db: Db): FindToken =>
  async (token, slug) => {
    const { rows } = await sql<Row>`
      select ${columns(sql`false`)}, t.organization_ids, t.created_at, t.expires_at
      from api_access_tokens t join users u on u.id = t.user_id ${membership(slug, sql`t.organization_ids`)}
      where ${isValid} and t.token_hash = ${hashToken(token)}`.execute(db)
    return rows[0] === undefined ? null : toFound(rows[0], null)
  }

/**
 * The session of a cookie, whose proof auth/proven-sessions.ts checks. One that an access token opened has the token's rights, and ends with it. One that single sign-on
 * opened reaches only the organizations whose single sign-on it has passed: their administrators chose the provider, so its
 * word must not count elsewhere.
 */
export const sessionFinder =
  (db: Db): FindToken<FoundSession> =>
  async (cookie, slug) => {
    const { rows } = await sql<SessionRow>`
      select ${columns(ssoMissing)}, ${sessionReach} as organization_ids,
        coalesce(t.created_at, w.created_at) as created_at, t.expires_at,
        w.id as session_id, w.opened_with, w.created_at as opened_at, w.expires_at as session_expires_at,
        w.organization_id as sso_organization_id, w.page_secret_hash
      from web_sessions w left join api_access_tokens t on t.id = w.access_token_id
      join users u on u.id = coalesce(w.user_id, t.user_id) ${membership(slug, sessionReach)}
      where w.token_hash = ${hashToken(cookie)} and w.expires_at > now()
        and (w.access_token_id is null or ${isValid})`.execute(db)
    const [row] = rows
    if (row === undefined) return null
    const session = {
      id: row.session_id,
      opened_with: row.opened_with,
      created_at: row.opened_at,
      expires_at: row.session_expires_at,
      organization_id: row.sso_organization_id,
    }
    return { ...toFound(row, session), page_secret_hash: row.page_secret_hash }
  }

/**
 * The columns of the token are null in a session that no token opened. The times of the user and the organization are columns of
 * their own, because PostgreSQL writes times in JSON differently.
 */
interface Row extends Omit<Caller['token'], 'description' | 'scopes'> {
  description: string | null
  scopes: string[] | null
  user: Omit<Caller['user'], 'created_at'>
  user_created_at: string
  organization: Omit<FoundOrganization, 'created_at'> | null
  organization_created_at: string
}

interface SessionRow extends Row {
  session_id: string
  opened_with: OpenedWith
  opened_at: string
  session_expires_at: string
  sso_organization_id: string | null
  page_secret_hash: Buffer | null
}

const columns = (ssoMissing: RawBuilder<unknown>) => sql`
  t.id, t.description, t.scopes, t.allowed_ip_addresses, coalesce(t.is_machine, false) as is_machine,
  json_build_object('id', u.id, 'name', u.name, 'email', u.email) as "user", u.created_at as user_created_at,
  case when o.id is not null then json_build_object('id', o.id, 'slug', o.slug, 'name', o.name, 'emoji', o.emoji,
    'features', o.features, 'featuresOff', o.features_off, 'allowed_ip_addresses', o.allowed_ip_addresses,
    'role', m.role, 'teams_enabled', o.teams_enabled_at is not null, 'sso_missing', ${ssoMissing}) end as organization,
  o.created_at as organization_created_at`

/** `reach`: the ids of the organizations that count; null: all. */
const membership = (slug: string | null, reach: RawBuilder<unknown>) => sql`
  left join (organizations o join organization_members m on m.organization_id = o.id)
    on o.slug = ${slug}::text and m.user_id = u.id and (${reach} is null or o.id = any (${reach}))`

const sessionReach = sql`
  case w.opened_with when 'sso'
    then array(select p.organization_id from web_session_sso p where p.session_id = w.id)
    else t.organization_ids end`

const ssoMissing = sql`
  (exists (
    select from organization_sso s
    where s.organization_id = o.id and s.is_enabled and (s.is_required or m.sso_mode = 'required'))
  and not exists (
    select from web_session_sso p where p.session_id = w.id and p.organization_id = o.id))`

const isValid = sql`t.revoked_at is null and (t.expires_at is null or t.expires_at > now())`

const toFound = (row: Row, session: CallerSession | null): FoundToken => ({
  id: row.id,
  session,
  description: row.description ?? '',
  scopes: row.scopes ?? [...scopes],
  organization_ids: row.organization_ids,
  allowed_ip_addresses: row.allowed_ip_addresses,
  created_at: row.created_at,
  expires_at: row.expires_at,
  is_machine: row.is_machine,
  user: { ...row.user, created_at: row.user_created_at },
  organization: row.organization && { ...row.organization, created_at: row.organization_created_at },
})
