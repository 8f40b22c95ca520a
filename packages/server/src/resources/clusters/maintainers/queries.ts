import { sql } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { teamIsVisible } from '../../../auth/permissions.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { violatedUnique } from '../../../db/transaction.ts'
import { notFound, validationFailed } from '../../../lib/errors.ts'
import type { Actor } from './rules.ts'

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

/**
 * The name of a member, or of a team that the caller may see; null when there is none. No other transaction deletes
 * either until this one ends.
 */
export async function holdActor(
  trx: Trx,
  org: Organization,
  caller: Caller,
  actor: Actor,
): Promise<string | null> {
  const { rows } =
    actor.kind === 'user'
      ? await sql<{ name: string }>`
          select u.name from organization_members m join users u on u.id = m.user_id
          where m.organization_id = ${org.id} and m.user_id = ${actor.id} for key share of m`.execute(trx)
      : await sql<{ name: string }>`
          select t.name from teams t
          where t.organization_id = ${org.id} and t.id = ${actor.id} and ${teamIsVisible(org, caller)}
          for key share of t`.execute(trx)
  return rows[0]?.name ?? null
}

export async function insert(
  trx: Trx,
  {
    actor,
    ...row
  }: { id: string; organization_id: string; cluster_id: string; actor: Actor & { name: string } },
): Promise<void> {
  await trx
    .insertInto('cluster_maintainers')
    .values({ ...row, [`${actor.kind}_id`]: actor.id })
    .execute()
    .catch((error: unknown) => {
      if (violatedUnique(error) === null) throw error
      throw validationFailed(`${actor.name} is already a maintainer of this cluster`)
    })
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
