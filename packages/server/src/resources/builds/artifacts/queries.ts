import { sql, type RawBuilder } from 'kysely'
import type { Db, Trx } from '../../../db/pool.ts'
import { likePattern } from '../builds/rules.ts'
import type { ArtifactState } from './schema.ts'

export interface ArtifactRow {
  id: string
  job_id: string
  state: ArtifactState
  path: string
  mime_type: string
  file_size: number
  sha1sum: string
}

export interface StoredArtifact extends ArtifactRow {
  organization_id: string
  sha256sum: string | null
  upload_destination: string
  external_url: string | null
  blob_key: string | null
  upload: Upload | null
}

/** An upload without a form, in one piece or in parts. */
export interface Upload {
  key: string
  /** null: in one piece, directly to the store. */
  uploadId: string | null
  parts: number
}

const shown = sql`a.id, a.job_id, a.state, a.path, a.mime_type, a.file_size, a.sha1sum`
const stored = sql`
  ${shown}, a.organization_id, a.sha256sum, a.upload_destination, a.external_url, a.blob_key, a.upload`

interface ListFilter {
  state: ArtifactState | null
  /** Exact, or with `*` for any run of characters. */
  path: string | undefined
  limit: number
  offset: number
}

export const listOfJob = (db: Db, orgId: string, jobId: string, filter: ListFilter): Promise<ArtifactRow[]> =>
  list(db, orgId, sql`a.job_id = ${jobId}`, filter)

export const listOfBuild = (
  db: Db,
  orgId: string,
  buildId: string,
  filter: ListFilter,
): Promise<ArtifactRow[]> => list(db, orgId, sql`a.build_id = ${buildId}`, filter)

async function list(
  db: Db,
  orgId: string,
  parentIs: RawBuilder<unknown>,
  { state, path, limit, offset }: ListFilter,
): Promise<ArtifactRow[]> {
  const inState = state === null ? sql`true` : sql`a.state = ${state}`
  const atPath = path === undefined ? sql`true` : sql`a.path like ${likePattern(path)}`
  const { rows } = await sql<ArtifactRow>`
    select ${shown} from artifacts a
    where a.organization_id = ${orgId} and ${parentIs} and a.state <> 'deleted' and ${inState} and ${atPath}
    order by a.created_at, a.id limit ${limit} offset ${offset}`.execute(db)
  return rows
}

export async function findInJob(
  db: Db,
  orgId: string,
  jobId: string,
  id: string,
): Promise<StoredArtifact | undefined> {
  const { rows } = await sql<StoredArtifact>`
    select ${stored} from artifacts a
    where a.organization_id = ${orgId} and a.job_id = ${jobId} and a.id = ${id} and a.state <> 'deleted'`.execute(
    db,
  )
  return rows[0]
}

/** For requests that a signature over the id authorizes. */
export async function findSigned(db: Db, id: string): Promise<StoredArtifact | undefined> {
  const { rows } = await sql<StoredArtifact>`
    select ${stored} from artifacts a where a.id = ${id} and a.state <> 'deleted'`.execute(db)
  return rows[0]
}

export interface NewArtifact {
  id: string
  path: string
  absolute_path: string
  file_size: number
  sha1sum: string
  sha256sum: string | null
  mime_type: string
  upload_destination: string
  external_url: string | null
}

export async function insertBatch(
  db: Db,
  { organizationId, buildId, jobId }: { organizationId: string; buildId: string; jobId: string },
  batchId: string,
  artifacts: readonly NewArtifact[],
): Promise<void> {
  await db
    .insertInto('artifacts')
    .values(
      artifacts.map((artifact, index) => ({
        ...artifact,
        organization_id: organizationId,
        build_id: buildId,
        job_id: jobId,
        batch_id: batchId,
        batch_index: index,
      })),
    )
    .onConflict((conflict) => conflict.constraint('artifacts_batch_key').doNothing())
    .execute()
}

/** In the order of the batch. */
export async function listBatch(
  db: Db,
  orgId: string,
  jobId: string,
  batchId: string,
): Promise<StoredArtifact[]> {
  const { rows } = await sql<StoredArtifact>`
    select ${stored} from artifacts a
    where a.organization_id = ${orgId} and a.job_id = ${jobId} and a.batch_id = ${batchId}
    order by a.batch_index`.execute(db)
  return rows
}

export async function countOfJob(
  db: Db,
  orgId: string,
  jobId: string,
): Promise<{ files: number; bytes: number }> {
  const { rows } = await sql<{ files: number; bytes: number }>`
    select count(*)::int as files, coalesce(sum(file_size) filter (where upload_destination = ''), 0)::bigint as bytes
    from artifacts where organization_id = ${orgId} and job_id = ${jobId}`.execute(db)
  return rows[0] ?? { files: 0, bytes: 0 }
}

export async function findBuildOfJob(db: Db, orgId: string, jobId: string): Promise<string | undefined> {
  const job = await db
    .selectFrom('jobs')
    .select('build_id')
    .where('organization_id', '=', orgId)
    .where('id', '=', jobId)
    .executeTakeFirst()
  return job?.build_id
}

/** False: another request has begun an upload. */
export async function beginUpload(db: Db, id: string, upload: Upload): Promise<boolean> {
  const { rows } = await sql`
    update artifacts set upload = ${JSON.stringify(upload)} where id = ${id} and upload is null and state = 'new'
    returning id`.execute(db)
  return rows.length > 0
}

/** False: the artifact has a file, or is deleted. */
export async function setBlob(trx: Trx, id: string, key: string): Promise<boolean> {
  const { rows } = await sql`
    update artifacts set blob_key = ${key}, upload = null
    where id = ${id} and blob_key is null and state in ('new', 'error') returning id`.execute(trx)
  return rows.length > 0
}

export async function hasBlob(trx: Trx, id: string, key: string): Promise<boolean> {
  const { rows } = await sql`select from artifacts where id = ${id} and blob_key = ${key}`.execute(trx)
  return rows.length > 0
}

export async function markError(db: Db, id: string): Promise<void> {
  await sql`update artifacts set state = 'error' where id = ${id} and state = 'new'`.execute(db)
}

/** Sets the state to `error` and ends the upload. */
export async function endUpload(db: Db, id: string): Promise<void> {
  await sql`
    update artifacts set state = 'error', upload = null
    where id = ${id} and state in ('new', 'error') and blob_key is null`.execute(db)
}

export async function markFinished(db: Db, id: string): Promise<void> {
  await sql`
    update artifacts set state = 'finished', finished_at = now()
    where id = ${id} and state in ('new', 'error') and (upload_destination <> '' or blob_key is not null)`.execute(
    db,
  )
}

/** Returns the files to delete; undefined: the artifact was deleted before. */
export async function markDeleted(trx: Trx, orgId: string, id: string): Promise<Leftover | undefined> {
  const { rows } = await sql<Leftover>`
    with gone as (
      select id, blob_key, upload from artifacts
      where organization_id = ${orgId} and id = ${id} and state <> 'deleted' for update)
    update artifacts a set state = 'deleted', blob_key = null, upload = null, external_url = null
    from gone where a.id = gone.id returning gone.blob_key, gone.upload`.execute(trx)
  return rows[0]
}

export interface Leftover {
  blob_key: string | null
  upload: Upload | null
}

/** Sets artifacts to `error` whose file has not arrived in two days. */
const isMissing = sql`(artifacts.state = 'new' and artifacts.created_at < now() - interval '2 days')`

/** In all organizations. */
export async function listMissing(db: Db, isWanted: RawBuilder<boolean>, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from artifacts where ${isMissing} and ${isWanted} order by created_at limit ${limit}`.execute(
    db,
  )
  return rows.map(({ id }) => id)
}

export async function failMissing(trx: Trx, ids: readonly string[]): Promise<Leftover[]> {
  const { rows } = await sql<Leftover>`
    with due as (
      select id, blob_key, upload from artifacts where id = any (${ids}::uuid[]) and ${isMissing}
      order by id for update skip locked)
    update artifacts a set state = 'error', blob_key = null, upload = null from due where a.id = due.id
    returning due.blob_key, due.upload`.execute(trx)
  return rows
}

interface Search {
  buildId: string
  /** A regular expression. */
  pattern: string
  state: string | null
  /** Key or label of a step, or the id of a job. */
  scope: string | null
  withRetried: boolean
  withDuplicates: boolean
}

export interface Found extends StoredArtifact {
  absolute_path: string
  created_at: string
}

/** The newest of each path, or with `withDuplicates` all, in the order of creation. */
export async function search(db: Db, orgId: string, wanted: Search): Promise<Found[]> {
  const { buildId, pattern, state, scope, withRetried, withDuplicates } = wanted
  const { rows } = await sql<Found>`
    select * from (
      select ${stored}, a.absolute_path, a.created_at,
        row_number() over (partition by a.path order by a.created_at desc, a.id desc) as age
      from artifacts a join jobs j on j.id = a.job_id
      where a.organization_id = ${orgId} and a.build_id = ${buildId} and a.state <> 'deleted' and a.path ~ ${pattern}
        and (${state}::text is null or a.state = ${state})
        and (${scope}::text is null or j.step_key = ${scope} or j.work ->> 'label' = ${scope} or j.id::text = ${scope})
        and (${withRetried} or j.retried_in_job_id is null)
    ) found where ${withDuplicates} or age = 1 order by created_at, id`.execute(db)
  return rows
}
