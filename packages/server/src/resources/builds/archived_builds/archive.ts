// Writes builds into the blob store, one gzipped JSON object each: the build as the API shows it with all its jobs and its cost, its
// steps, annotations, artifacts, logs, step uploads and test runs. Texts and links are as they were when the build was archived.
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { sql } from 'kysely'
import { announceAll } from '../../../blobs/unclaimed.ts'
import type { Context } from '../../../context.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { Semaphore } from '../../../lib/semaphore.ts'
import { findBuildCost } from '../../insights/insights/build-cost.ts'
import { writeBuilds } from '../builds/build-json.ts'
import { readParts } from './build-parts.ts'

const deflate = promisify(gzip)
/** Most of the time is waiting for the store. */
const atOnce = 8

export interface WrittenArchive {
  id: string
  /** The build as it was written; see `versionsOf`. */
  version: string
  key: string
  size: number
}

/** The objects are durable and announced; nothing refers to them yet. Without builds that were deleted meanwhile. */
export async function writeArchives(
  ctx: Pick<Context, 'db' | 'blobs' | 'config'>,
  orgId: string,
  ids: readonly string[],
): Promise<WrittenArchive[]> {
  if (ids.length === 0) return []
  // Read before the content: a change in between makes the versions differ.
  const versions = await versionsOf(ctx.db, orgId, ids)
  const wanted = [...versions].map(([id, version]) => ({
    id,
    version,
    key: `archives/${orgId}/${id}/${randomUUID()}`,
  }))
  await announceAll(
    ctx.db,
    wanted.map(({ key }) => key),
  )
  const writers = new Semaphore(atOnce)
  const written = wanted.map((archive) =>
    writers.run(async () => {
      const text = await writeDocument(ctx.db, ctx.config.url, orgId, archive.id)
      if (text === null) return []
      const bytes = await deflate(text)
      await ctx.blobs.put(archive.key, Readable.from([bytes]), bytes.length)
      return [{ ...archive, size: bytes.length }]
    }),
  )
  return (await Promise.all(written)).flat()
}

/** Raised when a reader must tell old objects from new ones. */
const formatVersion = 1

/** null: the build was deleted meanwhile. */
async function writeDocument(db: Db, url: string, orgId: string, id: string): Promise<string | null> {
  const allJobs = { includeRetried: true, includePaused: true, states: null }
  const [written] = await writeBuilds(db, url, [orgId], [id], allJobs)
  const parts = await readParts(db, url, orgId, id)
  const cost = await findBuildCost(db, orgId, id)
  if (written === undefined || parts === undefined) return null
  const { build, jobs } = written
  const costs = cost === undefined ? '' : `,"cost":${JSON.stringify(cost)}`
  const more = Object.entries(parts).map(([name, json]) => `,"${name}":${json}`)
  return [
    `{"version":${formatVersion},"build":${build.slice(0, -1)}${costs},"jobs":[${jobs ?? ''}]}`,
    ...more,
    '}',
  ].join('')
}

/**
 * Changes whenever a row that the archive shows is inserted, updated or deleted: the number of rows and the sum of the
 * transactions that wrote them.
 */
export async function versionsOf(
  db: Db,
  orgId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rowsIn = (table: string) => sql`(
    select count(*) || '-' || coalesce(sum(x.xmin::text::bigint), 0) from ${sql.table(table)} x where x.build_id = b.id)`
  const tables = [
    'jobs',
    'build_steps',
    'build_meta_data',
    'annotations',
    'artifacts',
    'step_uploads',
    'test_runs',
    'build_costs',
  ]
  const { rows } = await sql<{ id: string; version: string }>`
    select b.id, concat_ws(' ', b.xmin, ${sql.join(tables.map(rowsIn))}, (
      select count(*) || '-' || coalesce(sum(l.xmin::text::bigint), 0)
      from jobs j join job_logs l on l.job_id = j.id where j.build_id = b.id)) as version
    from builds b where b.organization_id = ${orgId} and b.id = any (${ids}::uuid[]) order by b.id`.execute(
    db,
  )
  return new Map(rows.map(({ id, version }) => [id, version]))
}

/** Inserts the rows that refer to the objects, and takes over the logs of these builds that are kept. */
export async function storeArchives(
  trx: Trx,
  orgId: string,
  archives: readonly WrittenArchive[],
  keepingLogs: readonly string[],
): Promise<void> {
  const [ids, keys, sizes] = [
    archives.map(({ id }) => id),
    archives.map(({ key }) => key),
    archives.map(({ size }) => size),
  ]
  await sql`
    insert into archived_builds (id, organization_id, pipeline_id, number, state, message, commit, branch, created_at,
      finished_at, archived_at, jobs, logs, blob_key, size)
    select b.id, b.organization_id, b.pipeline_id, b.number, b.state, left(b.message, 1000), b.commit, b.branch,
      b.created_at, b.finished_at, now(), counted.jobs, counted.logs, w.key, w.size
    from unnest(${ids}::uuid[], ${keys}::text[], ${sizes}::bigint[]) as w (id, key, size)
    join builds b on b.id = w.id
    cross join lateral (
      select count(*) as jobs, count(l.blob_key) filter (where b.id = any (${keepingLogs}::uuid[])) as logs
      from jobs j left join job_logs l on l.job_id = j.id where j.build_id = b.id) counted
    where b.organization_id = ${orgId}`.execute(trx)
  await sql`
    insert into archived_logs (job_id, organization_id, build_id, header_times, blob_key, size)
    select l.job_id, l.organization_id, j.build_id, l.header_times, l.blob_key, l.size
    from jobs j join job_logs l on l.job_id = j.id
    where j.organization_id = ${orgId} and j.build_id = any (${keepingLogs}::uuid[]) and l.blob_key is not null`.execute(
    trx,
  )
  // The objects have a new owner, so the deletion of these rows must not list them as unclaimed.
  await sql`
    update job_logs l set blob_key = null from archived_logs kept
    where kept.job_id = l.job_id and l.organization_id = ${orgId} and kept.build_id = any (${keepingLogs}::uuid[])`.execute(
    trx,
  )
}
