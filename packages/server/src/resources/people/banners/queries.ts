import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/pool.ts'
import { userJson, type UserRow } from '../user/queries.ts'

export interface BannerRow {
  id: string
  message: string
  created_at: string
  updated_at: string
  created_by: UserRow | null
}

export async function findInOrg(db: Db, orgId: string): Promise<BannerRow | undefined> {
  const { rows } = await sql<BannerRow>`
    select b.id, b.message, b.created_at, b.updated_at, ${userJson('creator')} as created_by
    from organization_banners b left join users creator on creator.id = b.created_by
    where b.organization_id = ${orgId}`.execute(db)
  return rows[0]
}

/** False when the banner had the message already. The caller must have locked the organization. */
export async function upsert(
  trx: Trx,
  row: { id: string; organization_id: string; message: string; created_by: string; updated_at: string },
): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    insert into organization_banners (id, organization_id, message, created_by, created_at, updated_at)
    values (${row.id}, ${row.organization_id}, ${row.message}, ${row.created_by}, ${row.updated_at}, ${row.updated_at})
    on conflict (organization_id) do update set message = excluded.message, updated_at = excluded.updated_at
      where organization_banners.message != excluded.message
    returning id`.execute(trx)
  return rows.length > 0
}

export async function deleteInOrg(trx: Trx, orgId: string): Promise<void> {
  await trx.deleteFrom('organization_banners').where('organization_id', '=', orgId).execute()
}
