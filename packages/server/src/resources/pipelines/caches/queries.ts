// Caches of steps and their blobs. A cache is replaced as a whole, so a reader finds the blobs of one job only. Blobs that no
// cache refers to are marked, and deleted some time later: a job may be reading or about to save them.
import { sql, type RawBuilder } from 'kysely'
import type { RowChange } from '../../../db/each-row.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { newId } from '../../../lib/ids.ts'
import type { BuildBranches } from './rules.ts'

export interface CacheRow {
  id: string
  pipeline_id: string
  name: string
  branch: string
  platform: string
  paths: string[]
  file_count: number
  size_bytes: number
  stored_bytes: number
  job_id: string
  saved_at: string
  used_at: string
}

const columns = sql`
  c.id, c.pipeline_id, c.name, c.branch, c.platform, c.paths, c.file_count, c.size_bytes, c.stored_bytes, c.job_id,
  c.saved_at, c.used_at`

/** A job's step describes its cache. The branches are those whose caches the build may read. */
interface StepOfJob extends BuildBranches {
  /** null: the step has no cache. */
  cache: { name: string | null; paths: string[]; sizeGb: number } | null
  slug: string
}

export async function findStep(db: Db, orgId: string, jobId: string): Promise<StepOfJob | undefined> {
  const { rows } = await sql<StepOfJob>`
    select nullif(j.work -> 'cache', 'null') as cache, p.slug, b.branch, b.pull_request ->> 'base' as base, p.default_branch
    from jobs j join builds b on b.id = j.build_id join pipelines p on p.id = j.pipeline_id
    where j.organization_id = ${orgId} and j.id = ${jobId}`.execute(db)
  return rows[0]
}

export interface CacheAddress {
  pipelineId: string
  name: string
  platform: string
  pathsHash: Buffer
}

const isAt = ({ pipelineId, name, platform, pathsHash }: CacheAddress) => sql`
  c.pipeline_id = ${pipelineId} and c.name = ${name} and c.platform = ${platform} and c.paths_hash = ${pathsHash}`

/** The cache of the first branch that has one. */
export async function findOfBranches(
  db: Db,
  orgId: string,
  address: CacheAddress,
  branches: readonly string[],
): Promise<CacheRow | undefined> {
  const { rows } = await sql<CacheRow>`
    select ${columns} from step_caches c
    where c.organization_id = ${orgId} and ${isAt(address)} and c.branch = any (${branches}::text[])
    order by array_position(${branches}::text[], c.branch) limit 1`.execute(db)
  return rows[0]
}

/** The cache of the first branch that has one with such a name; of several, the newest. */
export async function findByPrefix(
  db: Db,
  orgId: string,
  { pipelineId, platform, pathsHash }: CacheAddress,
  { branches, prefix }: { branches: readonly string[]; prefix: string },
): Promise<CacheRow | undefined> {
  const { rows } = await sql<CacheRow>`
    select ${columns} from step_caches c
    where c.organization_id = ${orgId} and c.pipeline_id = ${pipelineId} and starts_with(c.name, ${prefix})
      and c.platform = ${platform} and c.paths_hash = ${pathsHash} and c.branch = any (${branches}::text[])
    order by array_position(${branches}::text[], c.branch), c.saved_at desc, c.id desc limit 1`.execute(db)
  return rows[0]
}

export interface BlobRow {
  digest: string
  size_bytes: number
  stored_bytes: number
  blob_key: string
}

/** In their order; the manifest is the first. */
export async function listBlobs(db: Db, orgId: string, cacheId: string): Promise<BlobRow[]> {
  const { rows } = await sql<BlobRow>`
    select encode(b.digest, 'hex') as digest, b.size_bytes, b.stored_bytes, b.blob_key
    from step_cache_refs r join step_cache_blobs b on b.id = r.blob_id
    where r.organization_id = ${orgId} and r.cache_id = ${cacheId} order by r.position`.execute(db)
  return rows
}

/** At most once a minute for each cache. */
export async function noteUse(db: Db, orgId: string, id: string, at: string): Promise<void> {
  await sql`
    update step_caches set used_at = ${at}
    where organization_id = ${orgId} and id = ${id} and used_at < ${at}::timestamptz - interval '1 minute'`.execute(
    db,
  )
}

/** Which of the digests have blobs. These stay long enough to be saved in another cache. */
export async function holdKnown(
  db: Db,
  orgId: string,
  pipelineId: string,
  digests: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ digest: string }>`
    with held as (
      update step_cache_blobs set unused_at = null
      where organization_id = ${orgId} and pipeline_id = ${pipelineId} and unused_at is not null
        and digest = any (${bytesOf(digests)}))
    select encode(digest, 'hex') as digest from step_cache_blobs
    where organization_id = ${orgId} and pipeline_id = ${pipelineId} and digest = any (${bytesOf(digests)})`.execute(
    db,
  )
  return new Set(rows.map(({ digest }) => digest))
}

const bytesOf = (digests: readonly string[]): RawBuilder<unknown> =>
  sql`array(select decode(d, 'hex') from unnest(${digests}::text[]) d)`

export interface NewBlob {
  digest: string
  size: number
  storedBytes: number
  key: string
}

/** Returns the keys that were taken. A blob with the same digest that is there already stays. */
export async function insertBlobs(
  trx: Trx,
  orgId: string,
  pipelineId: string,
  blobs: readonly NewBlob[],
): Promise<string[]> {
  const { rows } = await sql<{ blob_key: string }>`
    insert into step_cache_blobs (id, organization_id, pipeline_id, digest, size_bytes, stored_bytes, blob_key)
    select gen_random_uuid(), ${orgId}, ${pipelineId}, decode(digest, 'hex'), size, stored, key
    from unnest(${blobs.map(({ digest }) => digest)}::text[], ${blobs.map(({ size }) => size)}::bigint[],
      ${blobs.map(({ storedBytes }) => storedBytes)}::bigint[], ${blobs.map(({ key }) => key)}::text[])
      as given (digest, size, stored, key)
    order by digest
    on conflict (pipeline_id, digest) do nothing returning blob_key`.execute(trx)
  return rows.map(({ blob_key }) => blob_key)
}

/** Locks the blobs, so that they are not deleted before the transaction ends. */
export async function lockBlobs(
  trx: Trx,
  orgId: string,
  pipelineId: string,
  digests: readonly string[],
): Promise<Map<string, { id: string; size: number; storedBytes: number }>> {
  const { rows } = await sql<{ id: string; digest: string; size: number; storedBytes: number }>`
    with locked as (
      select id from step_cache_blobs
      where organization_id = ${orgId} and pipeline_id = ${pipelineId} and digest = any (${bytesOf(digests)})
      order by digest for update)
    update step_cache_blobs b set unused_at = null from locked where b.id = locked.id
    returning b.id, encode(b.digest, 'hex') as digest, b.size_bytes as size, b.stored_bytes as "storedBytes"`.execute(
    trx,
  )
  return new Map(rows.map(({ digest, ...blob }) => [digest, blob]))
}

interface NewCache extends CacheAddress {
  branch: string
  paths: string[]
  fileCount: number
  sizeBytes: number
  storedBytes: number
  jobId: string
  at: string
}

/** Replaces the cache of the same address and branch, with all its blobs. The last of two that come at once stays whole. */
export async function replaceCache(
  trx: Trx,
  orgId: string,
  cache: NewCache,
  blobIds: readonly string[],
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    insert into step_caches (id, organization_id, pipeline_id, name, branch, platform, paths, paths_hash, file_count,
      size_bytes, stored_bytes, job_id, saved_at, used_at)
    values (${newId()}, ${orgId}, ${cache.pipelineId}, ${cache.name}, ${cache.branch}, ${cache.platform}, ${cache.paths},
      ${cache.pathsHash}, ${cache.fileCount}, ${cache.sizeBytes}, ${cache.storedBytes}, ${cache.jobId}, ${cache.at}, ${cache.at})
    on conflict on constraint step_caches_place_key do update set file_count = excluded.file_count,
      size_bytes = excluded.size_bytes, stored_bytes = excluded.stored_bytes, job_id = excluded.job_id,
      saved_at = excluded.saved_at, used_at = excluded.used_at
    returning id`.execute(trx)
  const id = rows[0]?.id
  await sql`delete from step_cache_refs where organization_id = ${orgId} and cache_id = ${id}`.execute(trx)
  await sql`
    insert into step_cache_refs (organization_id, cache_id, position, blob_id)
    select ${orgId}, ${id}, place - 1, blob from unnest(${blobIds}::uuid[]) with ordinality as given (blob, place)`.execute(
    trx,
  )
}

export async function listKeys(
  db: Db,
  orgId: string,
  pipelineId: string,
): Promise<Array<Pick<BlobRow, 'digest' | 'blob_key'>>> {
  const { rows } = await sql<Pick<BlobRow, 'digest' | 'blob_key'>>`
    select encode(digest, 'hex') as digest, blob_key from step_cache_blobs
    where organization_id = ${orgId} and pipeline_id = ${pipelineId}`.execute(db)
  return rows
}

/** Deletes blobs and the caches that need them, so that the next job sends the blobs again. Returns how many caches. */
export async function deleteDamaged(
  trx: Trx,
  orgId: string,
  pipelineId: string,
  digests: readonly string[],
): Promise<number> {
  const blobs = await lockBlobs(trx, orgId, pipelineId, digests)
  const ids = [...blobs.values()].map(({ id }) => id)
  const { numAffectedRows } = await sql`
    delete from step_caches where organization_id = ${orgId} and id in (
      select cache_id from step_cache_refs where organization_id = ${orgId} and blob_id = any (${ids}::uuid[]))`.execute(
    trx,
  )
  await sql`
    delete from step_cache_blobs where organization_id = ${orgId} and id = any (${ids}::uuid[])`.execute(trx)
  return Number(numAffectedRows ?? 0)
}

/** Deletes caches that no job has restored or saved since then. */
export const expireUnused = (before: string): RowChange => ({
  table: 'step_caches',
  key: sql`r.id`,
  where: sql`r.used_at < ${before}`,
})

export interface OverLimit {
  organization_id: string
  /** null: all pipelines of the organization together. */
  pipeline_id: string | null
}

/** Organizations and pipelines whose blobs take more than the limit, used or not. */
export async function listOverLimit(
  db: Db,
  { pipelineBytes, organizationBytes }: { pipelineBytes: number; organizationBytes: number },
): Promise<OverLimit[]> {
  const { rows } = await sql<OverLimit>`
    select organization_id, pipeline_id from step_cache_blobs
    group by grouping sets ((organization_id), (organization_id, pipeline_id))
    having sum(stored_bytes) > case when grouping(pipeline_id) = 1 then ${organizationBytes}::bigint
      else ${pipelineBytes}::bigint end`.execute(db)
  return rows
}

/**
 * Deletes the least recently used caches until the rest is within the limit. A blob counts once: for the most recently used
 * cache that refers to it.
 */
export async function deleteLeastUsed(
  db: Db,
  { organization_id, pipeline_id }: OverLimit,
  mostBytes: number,
): Promise<number> {
  const inScope = pipeline_id === null ? sql`true` : sql`c.pipeline_id = ${pipeline_id}`
  const { numAffectedRows } = await sql`
    with ranked as (
      select c.id, row_number() over (order by c.used_at desc, c.id desc) as place from step_caches c
      where c.organization_id = ${organization_id} and ${inScope}),
    first_uses as (
      select min(k.place) as place, b.stored_bytes from ranked k
      join step_cache_refs r on r.organization_id = ${organization_id} and r.cache_id = k.id
      join step_cache_blobs b on b.id = r.blob_id group by b.id, b.stored_bytes),
    held as (
      select k.id, sum(coalesce(f.bytes, 0)) over (order by k.place) as bytes from ranked k
      left join (select place, sum(stored_bytes) as bytes from first_uses group by place) f on f.place = k.place)
    delete from step_caches c using held
    where c.organization_id = ${organization_id} and c.id = held.id and held.bytes > ${mostBytes}`.execute(db)
  return Number(numAffectedRows ?? 0)
}

const isUnused = sql`not exists (select from step_cache_refs f where f.blob_id = r.id)`

export const markUnused = (at: string): RowChange => ({
  table: 'step_cache_blobs',
  key: sql`r.id`,
  where: sql`r.unused_at is null and ${isUnused}`,
  set: sql`unused_at = ${at}`,
})

/** Their objects are then unclaimed and deleted like others. */
export const deleteUnusedSince = (before: string): RowChange => ({
  table: 'step_cache_blobs',
  key: sql`r.id`,
  where: sql`r.unused_at < ${before} and ${isUnused}`,
})

export interface CacheFilter {
  name: string | undefined
  branch: string | undefined
}

const fits = ({ name, branch }: CacheFilter) => sql`
  ${name === undefined ? sql`true` : sql`c.name = ${name}`} and
  ${branch === undefined ? sql`true` : sql`c.branch = ${branch}`}`

/** The most recently used first. */
export async function listOfPipeline(
  db: Db,
  orgId: string,
  pipelineId: string,
  { limit, offset, ...filter }: CacheFilter & { limit: number; offset: number },
): Promise<CacheRow[]> {
  const { rows } = await sql<CacheRow>`
    select ${columns} from step_caches c
    where c.organization_id = ${orgId} and c.pipeline_id = ${pipelineId} and ${fits(filter)}
    order by c.used_at desc, c.id desc limit ${limit} offset ${offset}`.execute(db)
  return rows
}

export async function deleteOne(
  trx: Trx,
  orgId: string,
  pipelineId: string,
  id: string,
): Promise<CacheRow | undefined> {
  const { rows } = await sql<CacheRow>`
    delete from step_caches c where c.organization_id = ${orgId} and c.pipeline_id = ${pipelineId} and c.id = ${id}
    returning ${columns}`.execute(trx)
  return rows[0]
}

export async function deleteSome(
  trx: Trx,
  orgId: string,
  pipelineId: string,
  filter: CacheFilter,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from step_caches c
    where c.organization_id = ${orgId} and c.pipeline_id = ${pipelineId} and ${fits(filter)}`.execute(trx)
  return Number(numAffectedRows ?? 0)
}
