import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/pool.ts'
import { childQueries } from '../../child-queries.ts'

export interface AgentImageRow {
  id: string
  cluster_id: string
  name: string
  version: number
  status: 'BUILDING' | 'READY' | 'FAILED'
  dockerfile: string
  base_image: string
  ref: string
  last_build_error: string | null
}

export const noImage = 'No agent image found with the given ID.'

const columns = sql`i.id, i.cluster_id, i.name, i.version, i.status, i.dockerfile, i.base_image, i.ref, i.last_build_error`

const select = sql`select ${columns} from agent_images i`

/** While an image is locked, no queue can start to use it. */
export const { get: getInCluster, lock: lockInCluster } = childQueries<AgentImageRow>({
  table: 'agent_images',
  alias: 'i',
  select,
  parent: 'cluster_id',
  missing: noImage,
  strength: 'update',
})

export async function listInCluster(db: Db, orgId: string, clusterId: string): Promise<AgentImageRow[]> {
  const { rows } = await sql<AgentImageRow>`${select}
    where i.organization_id = ${orgId} and i.cluster_id = ${clusterId} order by i.name collate "C"`.execute(
    db,
  )
  return rows
}

export async function countInCluster(trx: Trx, orgId: string, clusterId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from agent_images where organization_id = ${orgId} and cluster_id = ${clusterId}`.execute(
    trx,
  )
  return rows[0]?.count ?? 0
}

export async function listQueueKeys(
  trx: Trx,
  orgId: string,
  clusterId: string,
  ref: string,
): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select key from cluster_queues
    where organization_id = ${orgId} and cluster_id = ${clusterId} and agent_image_ref = ${ref} order by key`.execute(
    trx,
  )
  return rows.map(({ key }) => key)
}

/** The next version of that name. Versions of deleted images are not used again. */
export async function nextVersion(trx: Trx, clusterId: string, name: string): Promise<number> {
  const { rows } = await sql<{ version: number }>`
    insert into agent_image_versions as v (cluster_id, name, version) values (${clusterId}, ${name}, 1)
    on conflict (cluster_id, name) do update set version = v.version + 1
    returning version`.execute(trx)
  return rows[0]?.version ?? 1
}

export async function insert(
  trx: Trx,
  row: Pick<AgentImageRow, 'id' | 'cluster_id' | 'name' | 'version' | 'dockerfile' | 'base_image' | 'ref'> & {
    organization_id: string
    created_by: string
  },
): Promise<void> {
  await trx.insertInto('agent_images').values(row).execute()
}

export const markDeleting = (db: Db, orgId: string, id: string, at: string): Promise<void> =>
  setDeletingAt(db, orgId, id, at)

export const unmarkDeleting = (db: Db, orgId: string, id: string): Promise<void> =>
  setDeletingAt(db, orgId, id, null)

async function setDeletingAt(db: Db, orgId: string, id: string, at: string | null): Promise<void> {
  await db
    .updateTable('agent_images')
    .set({ deleting_at: at })
    .where('organization_id', '=', orgId)
    .where('id', '=', id)
    .execute()
}

export async function deleteInCluster(
  trx: Trx,
  orgId: string,
  clusterId: string,
  id: string,
): Promise<AgentImageRow | undefined> {
  const { rows } = await sql<AgentImageRow>`
    delete from agent_images i where i.organization_id = ${orgId} and i.cluster_id = ${clusterId} and i.id = ${id}
    returning ${columns}`.execute(trx)
  return rows[0]
}

export async function readLog(db: Db, orgId: string, imageId: string): Promise<string> {
  const { rows } = await sql<{ log: string }>`
    select coalesce(string_agg(c.body, '' order by c.sequence), '') as log
    from agent_image_log_chunks c join agent_images i on i.id = c.image_id
    where i.organization_id = ${orgId} and i.id = ${imageId}`.execute(db)
  return rows[0]?.log ?? ''
}
