import { sql } from 'kysely'
import type { Caller, MemberRole } from '../../../auth/caller.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { notFound } from '../../../lib/errors.ts'
import { isInRanges } from '../../../lib/ip-ranges.ts'

export interface OrganizationRow {
  id: string
  slug: string
  name: string
  /** In colon syntax. */
  emoji: string | null
  created_at: string
}

export async function listById(db: Db, ids: readonly string[]): Promise<OrganizationRow[]> {
  const { rows } = await sql<OrganizationRow>`
    select id, slug, name, emoji, created_at from organizations where id = any (${ids}::uuid[])`.execute(db)
  return rows
}

export async function get(db: Db, orgId: string): Promise<OrganizationRow> {
  const [organization] = await listById(db, [orgId])
  if (organization === undefined) throw notFound('No organization found')
  return organization
}

export async function updateGeneral(
  trx: Trx,
  orgId: string,
  { name, emoji }: Pick<OrganizationRow, 'name' | 'emoji'>,
): Promise<void> {
  await trx.updateTable('organizations').set({ name, emoji }).where('id', '=', orgId).execute()
}

interface ReachedOrganization extends OrganizationRow {
  /** The caller's own role there. */
  role: MemberRole
  teams_enabled: boolean
}

/** The organizations of the token's owner that the token covers and that allow the caller's address, oldest first. */
export async function listOfCaller(db: Db, caller: Caller): Promise<ReachedOrganization[]> {
  const reached = caller.token.organization_ids
  const { rows } = await sql<ReachedOrganization & { allowed_ip_addresses: string | null }>`
    select o.id, o.slug, o.name, o.emoji, o.created_at, o.allowed_ip_addresses, m.role,
      o.teams_enabled_at is not null as teams_enabled
    from organization_members m join organizations o on o.id = m.organization_id
    where m.user_id = ${caller.user.id} and (${reached}::uuid[] is null or o.id = any (${reached}::uuid[]))
    order by o.created_at, o.id`.execute(db)
  return rows.filter(
    ({ allowed_ip_addresses: ranges }) => ranges === null || isInRanges(caller.request.ip, ranges),
  )
}

/** Serializes changes that must hold for the organization as a whole, such as keeping one administrator. */
export async function lock(trx: Trx, orgId: string): Promise<void> {
  await trx.selectFrom('organizations').select('id').where('id', '=', orgId).forNoKeyUpdate().execute()
}
