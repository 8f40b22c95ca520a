import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/pool.ts'
import { prepared } from '../../../db/statement.ts'
import type { StoredChunk } from './plan.ts'

/** Chunks are accepted for this long after the end of the job. */
const graceSeconds = 60

export interface ChunkOfJob extends StoredChunk {
  organization_id: string
  job_id: string
  data: Buffer
}

/**
 * Returns the jobs that have ended too long ago, whose chunks were not stored. A repeated chunk changes nothing. A chunk of an unknown
 * job, or of a log that is deleted or full, is ignored.
 */
export async function insertChunks(db: Db, chunks: readonly ChunkOfJob[]): Promise<ReadonlySet<string>> {
  // Two statements with the same chunks, from an agent that repeats itself, lock them in the same order.
  const sorted = chunks.toSorted(
    (a, b) => (a.job_id < b.job_id ? -1 : a.job_id > b.job_id ? 1 : 0) || a.sequence - b.sequence,
  )
  let end = 0
  const ends = sorted.map(({ data }) => (end += data.length))
  const { rows } = await insertSorted(
    sorted.map(({ organization_id }) => organization_id),
    sorted.map(({ job_id }) => job_id),
    sorted.map(({ sequence }) => sequence),
    sorted.map(({ byte_offset }) => byte_offset),
    sorted.map(({ size }) => size),
    sorted.map(({ data }) => data.length),
    ends,
    Buffer.concat(sorted.map(({ data }) => data)),
  ).execute(db)
  return new Set(rows.map(({ job_id }) => job_id))
}

/** All data is one parameter, because an array of byte strings is sent as text of twice the size. */
const insertSorted = prepared(
  (
    organizationIds: string[],
    jobIds: string[],
    sequences: number[],
    offsets: number[],
    sizes: number[],
    lengths: number[],
    ends: number[],
    data: Buffer,
  ) => sql<{ job_id: string }>`
    with given as (
      select c.*, l.finished_at is not null or
        coalesce(j.finished_at <= now() - make_interval(secs => ${graceSeconds}), false) as is_late
      from unnest(${organizationIds}::uuid[], ${jobIds}::uuid[], ${sequences}::int[], ${offsets}::bigint[], ${sizes}::int[],
          ${lengths}::int[], ${ends}::int[])
        as c (organization_id, job_id, sequence, byte_offset, size, length, ends_at)
      join jobs j on j.organization_id = c.organization_id and j.id = c.job_id
      left join job_logs l on l.job_id = j.id
      where l.deleted_at is null and l.is_full is not true
    ), stored as (
      insert into job_log_chunks (job_id, sequence, byte_offset, size, data)
      select job_id, sequence, byte_offset, size, substring(${data}::bytea from ends_at - length + 1 for length)
      from given where not is_late
      on conflict (job_id, sequence) do nothing
    )
    select distinct job_id from given where is_late`,
)

export async function markTruncated(db: Db, orgId: string, jobId: string): Promise<void> {
  await sql`
    insert into job_logs as l (job_id, organization_id, is_truncated) values (${jobId}, ${orgId}, true)
    on conflict (job_id) do update set is_truncated = true
      where not l.is_truncated and l.finished_at is null and l.deleted_at is null`.execute(db)
}

/** Chunks of more than twice the limit can only be overlapping ones; no more are stored. */
export async function closeOverfull(db: Db, orgId: string, jobId: string, mostBytes: number): Promise<void> {
  await sql`
    insert into job_logs (job_id, organization_id, is_truncated, is_full)
    select job_id, ${orgId}, true, true from job_log_chunks where job_id = ${jobId}
    group by job_id having sum(size) > ${2 * mostBytes}::bigint
    on conflict (job_id) do update set is_truncated = true, is_full = true`.execute(db)
}

export async function mergeHeaderTimes(
  db: Db,
  orgId: string,
  jobId: string,
  times: Record<string, string>,
): Promise<void> {
  await sql`
    insert into job_logs as l (job_id, organization_id, header_times)
    values (${jobId}, ${orgId}, ${JSON.stringify(times)})
    on conflict (job_id) do update set header_times = l.header_times || excluded.header_times
      where l.deleted_at is null`.execute(db)
}

export interface LogRow {
  kind: string
  is_started: boolean
  is_ended: boolean
  is_deleted: boolean
  is_truncated: boolean
  is_agent_lost: boolean
  header_times: Record<string, string>
  has_failed: boolean
  ended_at: string | null
  blob_key: string | null
  size: number
  rows_blob_key: string | null
  rows_layout: RowsLayout | null
}

/** The object with the rows of a compacted log; see rows/rows-object.ts. */
export interface StoredRows {
  key: string
  layout: RowsLayout
}

/** Where its parts are, in bytes. */
export interface RowsLayout {
  rows: number
  table_at: number
  outline_at: number
  size: number
}

/** Also for a job without output. */
export async function find(db: Db, orgId: string, jobId: string): Promise<LogRow | undefined> {
  const { rows } = await sql<LogRow>`
    select j.kind, j.started_at is not null as is_started, j.finished_at is not null as is_ended,
      l.deleted_at is not null as is_deleted, coalesce(l.is_truncated, false) as is_truncated,
      coalesce(j.reason = 'agent_lost', false) as is_agent_lost,
      j.finished_at is not null and j.exit_status is distinct from 0 as has_failed, j.finished_at as ended_at,
      coalesce(l.header_times, '{}') as header_times, l.blob_key, coalesce(l.size, 0) as size,
      l.rows_blob_key, l.rows_layout
    from jobs j left join job_logs l on l.job_id = j.id
    where j.organization_id = ${orgId} and j.id = ${jobId}`.execute(db)
  return rows[0]
}

/** Chunks that end after `from`. */
export async function listChunks(db: Db, jobId: string, from: number): Promise<StoredChunk[]> {
  const { rows } = await sql<StoredChunk>`
    select sequence, byte_offset, size from job_log_chunks
    where job_id = ${jobId} and byte_offset + size > ${from}::bigint`.execute(db)
  return rows
}

export async function readChunks(
  db: Db,
  jobId: string,
  sequences: readonly number[],
): Promise<Map<number, Buffer>> {
  const { rows } = await sql<{ sequence: number; data: Buffer }>`
    select sequence, data from job_log_chunks
    where job_id = ${jobId} and sequence = any (${sequences}::int[])`.execute(db)
  return new Map(rows.map(({ sequence, data }) => [sequence, data]))
}

/** False: it was deleted before. */
export async function markDeleted(trx: Trx, orgId: string, jobId: string): Promise<boolean> {
  const { rows } = await sql`
    insert into job_logs as l (job_id, organization_id, deleted_at) values (${jobId}, ${orgId}, now())
    on conflict (job_id) do update set deleted_at = now(), blob_key = null, size = 0, header_times = '{}',
        rows_blob_key = null, rows_layout = null
      where l.deleted_at is null
    returning job_id`.execute(trx)
  return rows.length > 0
}

/** The keys of the log's objects; compaction is locked out until the end of the transaction. */
export async function lockBlobs(trx: Trx, jobId: string): Promise<string[]> {
  const row = await trx
    .selectFrom('job_logs')
    .select(['blob_key', 'rows_blob_key'])
    .where('job_id', '=', jobId)
    .forUpdate()
    .executeTakeFirst()
  return [row?.blob_key ?? [], row?.rows_blob_key ?? []].flat()
}

export async function deleteChunks(trx: Trx, jobId: string): Promise<number> {
  const { numDeletedRows } = await trx
    .deleteFrom('job_log_chunks')
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** False: the log was deleted meanwhile, or another process has stored its rows. */
export async function storeRows(
  trx: Trx,
  orgId: string,
  jobId: string,
  { key, layout, sketch }: StoredRows & { sketch: Uint8Array },
): Promise<boolean> {
  const { rows } = await sql`
    update job_logs set rows_blob_key = ${key}, rows_layout = ${JSON.stringify(layout)}::jsonb,
      sketch = ${Buffer.from(sketch)}
    where organization_id = ${orgId} and job_id = ${jobId}
      and blob_key is not null and deleted_at is null and rows_blob_key is null
    returning job_id`.execute(trx)
  return rows.length > 0
}
