// The volumes that the engine should have for hosted clusters. `attaching` and `attached`: a job's own copy. `keeping`: the job
// passed, and a snapshot of its copy is being made. `detached`: a snapshot that jobs start with copies of. `dropping`: it is
// being deleted.
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { mayBeTried, type RowChange } from '../../../db/each-row.ts'
import type { Db, Trx } from '../../../db/pool.ts'

export interface CacheVolumeRow {
  id: string
  cluster_id: string
  tag: string
  size_mb: number
  created_at: string
  attached_at: string | null
  detached_at: string
}

type Purpose = 'cache' | 'container_cache'

export interface OwnVolume {
  id: string
  organization_id: string
  cluster_id: string
  tag: string
  state: 'attaching' | 'attached' | 'keeping' | 'detached' | 'dropping'
  purpose: Purpose
  requested_mb: number
  deleted_at: string | null
}

const base32 = '0123456789abcdefghjkmnpqrstvwxyz'

export const newVolumeId = (): string =>
  `vol-${Array.from(randomBytes(26), (byte) => base32[byte % 32]).join('')}`

/** The newest snapshot of each tag. `attached_at` includes the last time a job was given a copy. */
export async function listNewest(db: Db, orgId: string, clusterId: string): Promise<CacheVolumeRow[]> {
  const { rows } = await sql<CacheVolumeRow>`
    select distinct on (tag) id, cluster_id, tag, size_mb, created_at,
      greatest(used_at, attached_at) as attached_at, detached_at
    from cache_volumes
    where organization_id = ${orgId} and cluster_id = ${clusterId} and state = 'detached'
    order by tag, detached_at desc, id desc`.execute(db)
  return rows
}

/** Whether the volume of a job that passed in that time, for one of the tags, is still being saved. */
export async function isBeingSaved(
  trx: Trx,
  orgId: string,
  clusterId: string,
  tags: readonly string[],
  passed: { from: string; to: string },
): Promise<boolean> {
  const { rows } = await sql`
    select from cache_volumes v join hosted_agents h on h.id = v.hosted_agent_id join jobs j on j.id = h.job_id
    where v.organization_id = ${orgId} and v.cluster_id = ${clusterId} and v.tag = any (${tags}::text[])
      and v.state in ('attached', 'keeping') and v.deleted_at is null
      and j.state = 'passed' and j.finished_at between ${passed.from} and ${passed.to} limit 1`.execute(trx)
  return rows.length > 0
}

interface VolumesOfTag {
  /** No job gets a copy of these any more. `isBusy`: a copy is being made. */
  dropping: Array<{ id: string; isBusy: boolean }>
  /** How many jobs have a copy that could be saved. */
  attached: number
}

export async function setTagDropping(
  trx: Trx,
  orgId: string,
  clusterId: string,
  tag: string,
): Promise<VolumesOfTag> {
  const { rows } = await sql<{ id: string; state: string; isBusy: boolean }>`
    select v.id, v.state, ${isBeingCopied} as "isBusy" from cache_volumes v
    where v.organization_id = ${orgId} and v.cluster_id = ${clusterId} and v.tag = ${tag} and v.deleted_at is null
      and v.state <> 'dropping' for update`.execute(trx)
  const dropping = rows.filter(({ state }) => state === 'detached')
  await setStates(trx, orgId, dropping, 'dropping')
  return { dropping, attached: rows.length - dropping.length }
}

export const restore = (db: Db, orgId: string, dropping: ReadonlyArray<{ id: string }>): Promise<void> =>
  setStates(db, orgId, dropping, 'detached')

async function setStates(
  db: Db,
  orgId: string,
  rows: ReadonlyArray<{ id: string }>,
  state: 'detached' | 'dropping',
): Promise<void> {
  await sql`
    update cache_volumes set state = ${state}
    where organization_id = ${orgId} and id = any (${rows.map(({ id }) => id)}::text[])`.execute(db)
}

export async function deleteRows(db: Db, orgId: string, ids: readonly string[]): Promise<void> {
  await sql`
    delete from cache_volumes where organization_id = ${orgId} and id = any (${[...ids]}::text[])`.execute(db)
}

/** Prevents that copies of running jobs are saved. */
export async function markDeleted(
  trx: Trx,
  orgId: string,
  clusterId: string,
  tag: string,
  at: string,
): Promise<void> {
  await sql`
    update cache_volumes set deleted_at = ${at}
    where organization_id = ${orgId} and cluster_id = ${clusterId} and tag = ${tag} and deleted_at is null
      and state in ('attaching', 'attached', 'keeping')`.execute(trx)
}

export async function insertOwn(
  trx: Trx,
  volume: Pick<OwnVolume, 'organization_id' | 'cluster_id' | 'tag' | 'purpose' | 'requested_mb'> & {
    hosted_agent_id: string
  },
): Promise<void> {
  await trx
    .insertInto('cache_volumes')
    .values({ ...volume, id: newVolumeId(), state: 'attaching' })
    .execute()
}

const ownColumns = sql`id, organization_id, cluster_id, tag, state, purpose, requested_mb, deleted_at`

export async function listOwn(db: Db, hostedAgentId: string): Promise<OwnVolume[]> {
  const { rows } = await sql<OwnVolume>`
    select ${ownColumns} from cache_volumes where hosted_agent_id = ${hostedAgentId} order by purpose`.execute(
    db,
  )
  return rows
}

/** Chooses the snapshot that a job gets a copy of, which is then not deleted until the copy is made; null: there is none. */
export async function chooseParent(
  db: Db,
  { id, organization_id, cluster_id, tag }: OwnVolume,
): Promise<string | null> {
  const { rows } = await sql<{ parent_id: string | null }>`
    with newest as (
      select id from cache_volumes
      where organization_id = ${organization_id} and cluster_id = ${cluster_id} and tag = ${tag} and state = 'detached'
      order by detached_at desc, id desc limit 1 for update
    )
    update cache_volumes set parent_id = (select id from newest) where id = ${id} returning parent_id`.execute(
    db,
  )
  return rows[0]?.parent_id ?? null
}

export async function setAttached(db: Db, id: string, parentId: string | null, at: string): Promise<void> {
  await sql`
    with used as (update cache_volumes set used_at = ${at} where id = ${parentId})
    update cache_volumes set state = 'attached', attached_at = ${at}
    where id = ${id} and state = 'attaching'`.execute(db)
}

/** False: the volume must not be saved. A repeated call returns the same. */
export async function setKeeping(db: Db, id: string): Promise<boolean> {
  const { rows } = await sql`
    update cache_volumes set state = 'keeping'
    where id = ${id} and state in ('attached', 'keeping') and deleted_at is null returning id`.execute(db)
  return rows.length > 0
}

export async function setDropping(db: Db, id: string): Promise<void> {
  await sql`update cache_volumes set state = 'dropping' where id = ${id}`.execute(db)
}

/** Makes it the newest of its tag and expires the older ones. If the tag was deleted meanwhile, expires it instead. */
export async function setDetached(
  trx: Trx,
  { id, organization_id, cluster_id, tag }: OwnVolume,
  { sizeMb, at }: { sizeMb: number; at: string },
): Promise<void> {
  await sql`
    update cache_volumes set size_mb = ${sizeMb}, detached_at = ${at}, hosted_agent_id = null,
      state = case when deleted_at is null then 'detached' else 'dropping' end
    where id = ${id} and state = 'keeping'`.execute(trx)
  await sql`
    update cache_volumes older set state = 'dropping' from cache_volumes newest
    where newest.id = ${id} and newest.state = 'detached' and older.organization_id = ${organization_id}
      and older.cluster_id = ${cluster_id} and older.tag = ${tag} and older.state = 'detached'
      and older.id <> ${id}`.execute(trx)
}

/** Expires the least recently used snapshots until the rest of the cluster is within the limit. */
export async function expireOverLimit(
  db: Db,
  { organization_id, cluster_id }: Pick<OwnVolume, 'organization_id' | 'cluster_id'>,
  limitMb: number,
): Promise<void> {
  await sql`
    update cache_volumes set state = 'dropping' where state = 'detached' and id in (
      select id from (
        select id, sum(size_mb) over (order by greatest(used_at, detached_at) desc, id desc) as held
        from cache_volumes
        where organization_id = ${organization_id} and cluster_id = ${cluster_id} and state = 'detached') as ranked
      where held > ${limitMb})`.execute(db)
}

/** Expires snapshots that no job has used since then. */
export const expireUnused = (before: string): RowChange => ({
  table: 'cache_volumes',
  key: sql`r.id`,
  where: sql`r.state = 'detached' and greatest(r.used_at, r.detached_at) < ${before}`,
  set: sql`state = 'dropping'`,
})

export async function listToDelete(db: Db, at: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select v.id from cache_volumes v
    where v.state <> 'detached' and v.hosted_agent_id is null and not ${isBeingCopied}
      and ${mayBeTried('cache_volumes', sql`v.id`, at)} limit 100`.execute(db)
  return rows.map(({ id }) => id)
}

/** For queries with `cache_volumes v`. */
const isBeingCopied = sql`
  exists (select from cache_volumes copy where copy.parent_id = v.id and copy.state = 'attaching')`

export async function deleteRow(db: Db, id: string): Promise<void> {
  await sql`delete from cache_volumes where id = ${id} and state <> 'detached'`.execute(db)
}

export async function listKnown(db: Db): Promise<Array<{ id: string; hasSnapshot: boolean }>> {
  const { rows } = await sql<{ id: string; hasSnapshot: boolean }>`
    select id, state = 'detached' as "hasSnapshot" from cache_volumes`.execute(db)
  return rows
}

export async function deleteDetached(db: Db, ids: readonly string[]): Promise<void> {
  await sql`delete from cache_volumes where state = 'detached' and id = any (${[...ids]}::text[])`.execute(db)
}
