import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/pool.ts'
import { notFound } from '../../../lib/errors.ts'

export interface MaintainerRow {
  id: string
  user: { id: string; name: string; email: string } | null
  team: { id: string; name: string; slug: string } | null
}

const select = sql`
  select m.id,
    case when u.id is not null then json_build_object('id', u.id, 'name', u.name, 'email', u.email) end as "user",
    case when t.id is not null then json_build_object('id', t.id, 'name', t.name, 'slug', t.slug) end as team
  from cluster_maintainers m left join users u on u.id = m.user_id left join teams t on t.id = m.team_id`

export async function listInCluster(
  db: Db,
  orgId: string,
  clusterId: string,
  page: { limit: number; offset: number },
): Promise<MaintainerRow[]> {
  const { rows } = await sql<MaintainerRow>`${select}
    where m.organization_id = ${orgId} and m.cluster_id = ${clusterId}
    order by m.created_at, m.id limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

export async function getInCluster(
  db: Db,
  orgId: string,
  clusterId: string,
  id: string,
): Promise<MaintainerRow> {
  const { rows } = await sql<MaintainerRow>`${select}
    where m.organization_id = ${orgId} and m.cluster_id = ${clusterId} and m.id = ${id}`.execute(db)
  const [maintainer] = rows
  if (maintainer === undefined) throw notFound('No maintainer found')
  return maintainer
}

/** Throws when a simultaneous request has deleted the maintainer already. */
export async function deleteInCluster(trx: Trx, orgId: string, clusterId: string, id: string): Promise<void> {
  const { numDeletedRows } = await trx
    .deleteFrom('cluster_maintainers')
    .where('organization_id', '=', orgId)
    .where('cluster_id', '=', clusterId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound('No maintainer found')
}
