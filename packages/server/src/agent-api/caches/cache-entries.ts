// The entries of a cluster's cache registries. An entry is found by its paths, in any order, and by the parts of its key.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type {
  CacheBlob,
  CacheKeyPart,
  CacheLookupRequest,
  CacheStoreRequest,
} from '@millrace/protocol/caches.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound } from '../../lib/errors.ts'
import { isUuid, newId } from '../../lib/ids.ts'
import type { RunningJob } from '../tokens.ts'

interface Registry {
  id: string
  organizationId: string
  name: string
}

interface CacheEntry {
  target_paths: string[]
  cache_key: CacheKeyPart[]
  blobs: CacheBlob[]
  expires_at: string
  isExact: boolean
}

const defaultSlug = 'default'
/** `committed` counts from the commit; `announced` limits the time of the upload. */
const lifetime = { committed: '30 days', announced: '1 day' }

/** `~` names the cluster's default registry, which the first request creates. */
export async function getRegistry(
  ctx: Context,
  job: RunningJob,
  named: string | undefined,
): Promise<Registry> {
  const slug = named === '~' ? defaultSlug : named
  const find = () =>
    ctx.db
      .selectFrom('cache_registries')
      .select(['id', 'organization_id as organizationId', 'name'])
      .where('organization_id', '=', job.organizationId)
      .where('cluster_id', '=', job.clusterId)
      .where('slug', '=', slug ?? '')
      .executeTakeFirst()
  let registry = await find()
  if (registry === undefined && slug === defaultSlug && job.clusterId !== null) {
    await sql`
      insert into cache_registries (id, organization_id, cluster_id, slug, name)
      values (${newId()}, ${job.organizationId}, ${job.clusterId}, ${slug}, 'Default') on conflict do nothing`.execute(
      ctx.db,
    )
    registry = await find()
  }
  // Agents compare this text, and the one for entries.
  if (registry === undefined) throw notFound('Cache registry not found')
  return registry
}

/** An entry with exactly this key. */
export async function getExact(
  ctx: Context,
  registry: Registry,
  wanted: CacheLookupRequest,
): Promise<CacheEntry> {
  const entry = await findBest(ctx, registry, wanted)
  if (!entry?.isExact) throw notFound('Cache entry not found')
  return entry
}

/** The entry that has the mandatory parts of the key and the most of the others; of several, the newest. */
export async function getClosest(
  ctx: Context,
  registry: Registry,
  wanted: CacheLookupRequest,
): Promise<CacheEntry> {
  const entry = await findBest(ctx, registry, wanted)
  if (entry === undefined) throw notFound('Cache entry not found')
  return entry
}

async function findBest(
  ctx: Context,
  registry: Registry,
  { target_paths, cache_key }: CacheLookupRequest,
): Promise<CacheEntry | undefined> {
  const values = valuesOf(cache_key)
  const mandatory = cache_key.map((part) => part.mandatory)
  const { rows } = await sql<CacheEntry>`
    select e.target_paths, e.cache_key, e.blobs, e.expires_at, m.count = cardinality(e.key_values) as "isExact"
    from cache_entries e cross join lateral (
      select count(*) filter (where e.key_values[part.place] = part.value) as count,
        bool_and(not part.mandatory or e.key_values[part.place] = part.value) as fits
      from unnest(${values}::text[], ${mandatory}::boolean[]) with ordinality as part (value, mandatory, place)
    ) m
    where e.organization_id = ${registry.organizationId} and e.registry_id = ${registry.id}
      and e.paths_hash = ${hashPaths(target_paths)} and e.committed_at is not null
      and e.expires_at > ${ctx.now().toISOString()} and cardinality(e.key_values) = ${values.length} and m.fits
    order by m.count desc, e.committed_at desc limit 1`.execute(ctx.db)
  return rows[0]
}

/** Returns the id that the commit names once the bytes are stored. */
export async function announce(ctx: Context, registry: Registry, given: CacheStoreRequest): Promise<string> {
  const id = newId()
  const at = ctx.now().toISOString()
  await sql`
    insert into cache_entries
      (id, organization_id, registry_id, target_paths, paths_hash, cache_key, key_values, blobs, platform, expires_at)
    values (${id}, ${registry.organizationId}, ${registry.id}, ${sortedPaths(given.target_paths)},
      ${hashPaths(given.target_paths)}, ${JSON.stringify(given.cache_key)}, ${valuesOf(given.cache_key)},
      ${JSON.stringify(given.blobs)}, ${given.platform}, ${at}::timestamptz + ${lifetime.announced}::interval)`.execute(
    ctx.db,
  )
  return id
}

/** Replaces older entries with the same paths and key. Idempotent. */
export async function commit(ctx: Context, registry: Registry, uploadId: string): Promise<void> {
  const at = ctx.now().toISOString()
  await inTransaction(ctx.db, async (trx) => {
    const { rows } = await sql<{ paths_hash: Buffer; key_values: string[] }>`
      update cache_entries set committed_at = coalesce(committed_at, ${at}),
        expires_at = coalesce(committed_at, ${at}) + ${lifetime.committed}::interval
      where registry_id = ${registry.id} and id = ${isUuid(uploadId) ? uploadId : null} and expires_at > ${at}
      returning paths_hash, key_values`.execute(trx)
    const [entry] = rows
    if (entry === undefined) throw notFound('Cache upload not found')
    await sql`
      delete from cache_entries where registry_id = ${registry.id} and id <> ${uploadId} and (expires_at <= ${at} or
        (paths_hash = ${entry.paths_hash} and key_values = ${entry.key_values} and committed_at is not null))`.execute(
      trx,
    )
  })
}

export async function expire(
  ctx: Context,
  registry: Registry,
  { target_paths, cache_key }: CacheLookupRequest,
): Promise<void> {
  await sql`
    delete from cache_entries where registry_id = ${registry.id} and paths_hash = ${hashPaths(target_paths)}
      and key_values = ${valuesOf(cache_key)} and committed_at is not null`.execute(ctx.db)
}

const valuesOf = (key: readonly CacheKeyPart[]) => key.map(({ value }) => value)

const sortedPaths = (paths: readonly string[]) => [...new Set(paths)].sort()

const hashPaths = (paths: readonly string[]): Buffer =>
  createHash('sha256')
    .update(JSON.stringify(sortedPaths(paths)))
    .digest()
