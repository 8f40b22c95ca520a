import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/pool.ts'

export interface GroupTeam {
  group: string
  team_id: string
}

export interface SsoFields {
  issuer: string
  client_id: string
  client_secret_sealed: Buffer
  client_secret_key_id: string
  scopes: string[]
  groups_claim: string
  email_domains: string[]
  provision: boolean
  is_required: boolean
  is_enabled: boolean
}

export interface SsoRow extends SsoFields {
  id: string
  organization_id: string
  group_teams: GroupTeam[]
  created_at: string
  updated_at: string
}

const select = sql`
  select s.id, s.organization_id, s.issuer, s.client_id, s.client_secret_sealed, s.client_secret_key_id, s.scopes,
    s.groups_claim, s.email_domains, s.provision, s.is_required, s.is_enabled, s.created_at, s.updated_at,
    coalesce((
      select json_agg(json_build_object('group', g.group_name, 'team_id', g.team_id) order by g.position)
      from organization_sso_group_teams g where g.organization_id = s.organization_id
    ), '[]') as group_teams
  from organization_sso s`

export async function findOfOrg(db: Db, orgId: string): Promise<SsoRow | undefined> {
  const { rows } = await sql<SsoRow>`${select} where s.organization_id = ${orgId}`.execute(db)
  return rows[0]
}

export interface SsoOrganization {
  id: string
  slug: string
  name: string
}

/** The organization with that slug, if it has single sign-on, enabled or not. */
export async function findOfSlug(
  db: Db,
  slug: string,
): Promise<{ org: SsoOrganization; sso: SsoRow } | undefined> {
  const { rows } = await sql<SsoRow & { slug: string; name: string }>`
    select o.slug, o.name, own.* from organizations o
    join (${select}) as own on own.organization_id = o.id
    where o.slug = ${slug}`.execute(db)
  const [row] = rows
  return row && { org: { id: row.organization_id, slug: row.slug, name: row.name }, sso: row }
}

/** Inserts or replaces the settings. The caller must have locked the organization. */
export async function save(
  trx: Trx,
  orgId: string,
  row: SsoFields & { id: string; updated_at: string },
): Promise<void> {
  await trx
    .insertInto('organization_sso')
    .values({ organization_id: orgId, created_at: row.updated_at, ...row })
    .onConflict((conflict) => conflict.column('organization_id').doUpdateSet(row))
    .execute()
}

export async function replaceGroupTeams(
  trx: Trx,
  orgId: string,
  groupTeams: readonly GroupTeam[],
): Promise<void> {
  await trx.deleteFrom('organization_sso_group_teams').where('organization_id', '=', orgId).execute()
  await sql`
    insert into organization_sso_group_teams (organization_id, position, group_name, team_id)
    select ${orgId}, given.position, given.group_name, given.team_id
    from unnest(${groupTeams.map(({ group }) => group)}::text[], ${groupTeams.map(({ team_id: id }) => id)}::uuid[])
      with ordinality as given (group_name, team_id, position)`.execute(trx)
}

export async function disable(trx: Trx, orgId: string): Promise<void> {
  await deleteSignIns(trx, orgId)
  await trx
    .updateTable('organization_sso')
    .set({ is_enabled: false, updated_at: sql`now()` })
    .where('organization_id', '=', orgId)
    .execute()
}

/** Ends the sign-ins that were begun, and those that sessions have passed. */
export async function deleteSignIns(trx: Trx, orgId: string): Promise<void> {
  await trx.deleteFrom('sso_starts').where('organization_id', '=', orgId).execute()
  await trx.deleteFrom('web_session_sso').where('organization_id', '=', orgId).execute()
}

/** Deletes the identities too. Team memberships that came from groups stay, as if somebody had added them. */
export async function deleteOfOrg(trx: Trx, orgId: string): Promise<void> {
  await deleteSignIns(trx, orgId)
  await trx.deleteFrom('organization_sso').where('organization_id', '=', orgId).execute()
  await trx.deleteFrom('sso_identities').where('organization_id', '=', orgId).execute()
  await trx
    .updateTable('team_members')
    .set({ source: 'manual' })
    .where('organization_id', '=', orgId)
    .where('source', '=', 'sso')
    .execute()
}
