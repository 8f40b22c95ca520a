import { sql } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { teamIsVisible } from '../../../auth/permissions.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { violatedUnique } from '../../../db/transaction.ts'
import { notFound, validationFailed } from '../../../lib/errors.ts'
import { userJson, type UserRow } from '../user/queries.ts'
import type { TeamRole } from '../schema.ts'
import type { Privacy } from './schema.ts'

export interface TeamFields {
  name: string
  slug: string
  description: string
  privacy: Privacy
  is_default_team: boolean
  default_member_role: TeamRole
  members_can_create_pipelines: boolean
  members_can_create_suites: boolean
  members_can_create_registries: boolean
  members_can_destroy_registries: boolean
  members_can_destroy_packages: boolean
}

export interface TeamRow extends TeamFields {
  id: string
  created_at: string
  created_by: UserRow | null
}

const select = sql`
  select t.id, t.name, t.slug, t.description, t.privacy, t.is_default_team, t.default_member_role,
    t.members_can_create_pipelines, t.members_can_create_suites, t.members_can_create_registries,
    t.members_can_destroy_registries, t.members_can_destroy_packages, t.created_at,
    ${userJson('creator')} as created_by
  from teams t left join users creator on creator.id = t.created_by`

/** The teams that the caller may see; with `userId`, only those that this user is in. */
export async function listVisible(
  db: Db,
  org: Organization,
  caller: Caller,
  { userId, limit, offset }: { userId: string | undefined; limit: number; offset: number },
): Promise<TeamRow[]> {
  const hasUser =
    userId === undefined
      ? sql`true`
      : sql`exists (select from team_members m where m.team_id = t.id and m.user_id = ${userId})`
  const { rows } = await sql<TeamRow>`${select}
    where t.organization_id = ${org.id} and ${teamIsVisible(org, caller)} and ${hasUser}
    order by t.created_at, t.id limit ${limit} offset ${offset}`.execute(db)
  return rows
}

export async function getVisible(db: Db, org: Organization, caller: Caller, id: string): Promise<TeamRow> {
  const { rows } = await sql<TeamRow>`${select}
    where t.organization_id = ${org.id} and t.id = ${id} and ${teamIsVisible(org, caller)}`.execute(db)
  const [team] = rows
  if (team === undefined) throw notFound('No team found')
  return team
}

export async function countInOrg(db: Db, orgId: string): Promise<number> {
  const { count } = await db
    .selectFrom('teams')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', orgId)
    .executeTakeFirstOrThrow()
  return count
}

/** The given ids that belong to teams of the organization. */
export async function listIds(db: Db, orgId: string, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from teams where organization_id = ${orgId} and id = any (${ids}::uuid[])`.execute(db)
  return rows.map(({ id }) => id)
}

/** Like `listIds`. Until the transaction ends, no other transaction deletes these teams. */
export async function holdIds(trx: Trx, orgId: string, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from teams where organization_id = ${orgId} and id = any (${ids}::uuid[])
    order by id for key share`.execute(trx)
  return rows.map(({ id }) => id)
}

export async function insert(
  trx: Trx,
  row: Pick<TeamFields, 'name' | 'slug'> &
    Partial<TeamFields> & { id: string; organization_id: string; created_by: string },
): Promise<void> {
  await trx
    .insertInto('teams')
    .values(row)
    .execute()
    .catch((error: unknown) => refuseTakenSlug(error, row.slug))
}

export async function updateInOrg(
  trx: Trx,
  orgId: string,
  id: string,
  change: Partial<TeamFields>,
): Promise<void> {
  if (Object.keys(change).length === 0) return
  await trx
    .updateTable('teams')
    .set(change)
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .execute()
    .catch((error: unknown) => refuseTakenSlug(error, change.slug))
}

function refuseTakenSlug(error: unknown, slug: string | undefined): never {
  if (violatedUnique(error) !== 'teams_slug_key') throw error
  throw validationFailed(`there is already a team with the slug "${slug}"`)
}

/** Deletes its memberships, pipeline access and maintainer rows too. */
export function deleteInOrg(
  trx: Trx,
  orgId: string,
  id: string,
): Promise<{ id: string; name: string } | undefined> {
  return trx
    .deleteFrom('teams')
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .returning(['id', 'name'])
    .executeTakeFirst()
}

/** Whether teams were off before. */
export async function enableInOrg(trx: Trx, orgId: string, at: string): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('organizations')
    .set({ teams_enabled_at: at })
    .where('id', '=', orgId)
    .where('teams_enabled_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Adds every member of the organization. The caller must have locked the organization. */
export async function insertEveryone(trx: Trx, orgId: string, teamId: string): Promise<void> {
  await sql`
    insert into team_members (organization_id, team_id, user_id, role)
    select organization_id, ${teamId}, user_id, 'member' from organization_members
    where organization_id = ${orgId}`.execute(trx)
}
