import { sql, type RawBuilder } from 'kysely'
import type { Db, Trx } from '../../../db/pool.ts'
import { notFound } from '../../../lib/errors.ts'
import { userJson, type UserRow } from '../../people/user/queries.ts'

export interface ClusterRow {
  id: string
  name: string
  description: string
  emoji: string | null
  color: string | null
  hosted: boolean
  hosted_git_mirror_enabled: boolean
  hosted_container_cache_enabled: boolean
  default_queue_id: string | null
  created_at: string
  created_by: UserRow | null
  user_maintainers: Array<{ id: string; user: { id: string; name: string; email: string } }>
  team_maintainers: Array<{ id: string; team: { id: string; name: string; slug: string } }>
}

const columns = sql`
  c.id, c.name, c.description, c.emoji, c.color, c.hosted, c.hosted_git_mirror_enabled,
  c.hosted_container_cache_enabled, c.default_queue_id, c.created_at, ${userJson('creator')} as created_by,
  maintainers.users as user_maintainers, maintainers.teams as team_maintainers`

const joins = sql`
  left join users creator on creator.id = c.created_by
  cross join lateral (
    select
      coalesce(json_agg(json_build_object('id', m.id, 'user', json_build_object('id', u.id, 'name', u.name, 'email', u.email))
        order by m.created_at, m.id) filter (where u.id is not null), '[]') as users,
      coalesce(json_agg(json_build_object('id', m.id, 'team', json_build_object('id', t.id, 'name', t.name, 'slug', t.slug))
        order by m.created_at, m.id) filter (where t.id is not null), '[]') as teams
    from cluster_maintainers m left join users u on u.id = m.user_id left join teams t on t.id = m.team_id
    where m.cluster_id = c.id
  ) maintainers`

export async function findInOrg(db: Db, orgId: string, id: string): Promise<ClusterRow | undefined> {
  const { rows } = await sql<ClusterRow>`
    select ${columns} from clusters c ${joins}
    where c.organization_id = ${orgId} and c.id = ${id}`.execute(db)
  return rows[0]
}

export async function getInOrg(db: Db, orgId: string, id: string): Promise<ClusterRow> {
  const cluster = await findInOrg(db, orgId, id)
  if (cluster === undefined) throw notFound('No cluster found')
  return cluster
}

export async function listInOrg(
  db: Db,
  orgId: string,
  page: { limit: number; offset: number },
): Promise<ClusterRow[]> {
  const { rows } = await sql<ClusterRow>`
    select ${columns}
    from (
      select * from clusters where organization_id = ${orgId} order by created_at, id
      limit ${page.limit} offset ${page.offset}
    ) c ${joins}
    order by c.created_at, c.id`.execute(db)
  return rows
}

interface LockedCluster {
  id: string
  name: string
  hosted: boolean
  default_queue_id: string | null
}

/** Until the transaction ends, no other transaction updates or deletes the cluster. */
export const lockInOrg = (trx: Trx, orgId: string, id: string): Promise<LockedCluster> =>
  lock(trx, orgId, id, sql`for no key update`)

/** Like `lockInOrg`; also, no other transaction inserts rows that refer to the cluster. */
export const lockToDelete = (trx: Trx, orgId: string, id: string): Promise<LockedCluster> =>
  lock(trx, orgId, id, sql`for update`)

async function lock(
  trx: Trx,
  orgId: string,
  id: string,
  strength: RawBuilder<unknown>,
): Promise<LockedCluster> {
  const { rows } = await sql<LockedCluster>`
    select id, name, hosted, default_queue_id from clusters
    where organization_id = ${orgId} and id = ${id} ${strength}`.execute(trx)
  const [cluster] = rows
  if (cluster === undefined) throw notFound('No cluster found')
  return cluster
}

/** Whether the cluster exists. If so, no other transaction deletes it until this one ends. */
export async function holdInOrg(trx: Trx, orgId: string, id: string): Promise<boolean> {
  const { rows } = await sql`
    select from clusters where organization_id = ${orgId} and id = ${id} for key share`.execute(trx)
  return rows.length > 0
}

export interface ClusterFields {
  name: string
  description: string
  emoji: string | null
  color: string | null
}

export async function insert(
  trx: Trx,
  row: ClusterFields & { id: string; organization_id: string; hosted: boolean; created_by: string },
): Promise<void> {
  await trx.insertInto('clusters').values(row).execute()
}

export async function updateInOrg(
  trx: Trx,
  orgId: string,
  id: string,
  change: Partial<
    ClusterFields & {
      default_queue_id: string | null
      hosted_git_mirror_enabled: boolean
      hosted_container_cache_enabled: boolean
    }
  >,
): Promise<void> {
  if (Object.keys(change).length === 0) return
  await trx
    .updateTable('clusters')
    .set(change)
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .execute()
}

/** Deletes its queues, tokens, maintainers and secrets too. */
export async function deleteInOrg(trx: Trx, orgId: string, id: string): Promise<void> {
  await trx.deleteFrom('clusters').where('organization_id', '=', orgId).where('id', '=', id).execute()
}

export async function countPipelines(trx: Trx, orgId: string, id: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from pipelines where organization_id = ${orgId} and cluster_id = ${id}`.execute(trx)
  return rows[0]?.count ?? 0
}

/** Without hosted agents that are idle. */
export async function countConnectedAgents(trx: Trx, orgId: string, id: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from agents a
    where organization_id = ${orgId} and cluster_id = ${id} and connection_state in ('connected', 'stopping')
      and not exists (select from hosted_agents h where h.agent_id = a.id and h.job_id is null)`.execute(trx)
  return rows[0]?.count ?? 0
}

export async function hasQueue(db: Db, orgId: string, id: string, queueId: string): Promise<boolean> {
  const { rows } = await sql`
    select from cluster_queues
    where organization_id = ${orgId} and cluster_id = ${id} and id = ${queueId}`.execute(db)
  return rows.length > 0
}
