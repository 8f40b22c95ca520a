import { sql } from 'kysely'
import type { Db, Trx } from '../../db/pool.ts'
import { isFree, leaseEnd } from '../../tasks/lease.ts'
import type { Kinds } from '../../tasks/kinds.ts'
import type { StoredChunk } from './plan.ts'

/** Chunks are accepted for this long after the end of the job. */
const graceSeconds = 60
/** By then a statement that began within the grace period has ended too. */
const endedSeconds = 120
const compactionSeconds = 600

export interface Chunk extends StoredChunk {
  data: Buffer
}

/** A repeated chunk changes nothing. A chunk that is late, or of a deleted log, is ignored. */
export async function insertChunk(db: Db, orgId: string, jobId: string, chunk: Chunk): Promise<void> {
  await sql`
    insert into job_log_chunks (job_id, sequence, byte_offset, size, data)
    select j.id, ${chunk.sequence}::int, ${chunk.byte_offset}::bigint, ${chunk.size}::int, ${chunk.data}::bytea
    from jobs j
    where j.organization_id = ${orgId} and j.id = ${jobId}
      and (j.finished_at is null or j.finished_at > now() - make_interval(secs => ${graceSeconds}))
      and not exists (select from job_logs l where l.job_id = j.id
        and (l.deleted_at is not null or l.finished_at is not null or l.is_full))
    on conflict (job_id, sequence) do nothing`.execute(db)
}

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

/** Where the parts of the object with a log's rows are, in bytes. */
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

/** Jobs that get no more chunks and whose logs no worker compacts. */
export async function listEnded(db: Db, limit: number): Promise<Array<Kinds['compact_log']>> {
  const { rows } = await sql<Kinds['compact_log']>`
    with recursive with_chunks as (
      (select job_id from job_log_chunks order by job_id limit 1)
      union all
      select (select c.job_id from job_log_chunks c where c.job_id > w.job_id order by c.job_id limit 1)
      from with_chunks w where w.job_id is not null
    )
    select w.job_id, j.organization_id
    from with_chunks w left join jobs j on j.id = w.job_id left join job_logs l on l.job_id = w.job_id
    where w.job_id is not null and ${isFree('l.compacting_until', sql`now()`)}
      and (j.id is null or j.finished_at < now() - make_interval(secs => ${endedSeconds}))
    limit ${limit}`.execute(db)
  return rows
}

/** False: another worker compacts the log, or it is compacted or deleted already. */
export async function claimCompaction(db: Db, orgId: string, jobId: string): Promise<boolean> {
  const { rows } = await sql`
    insert into job_logs as l (job_id, organization_id, compacting_until)
    values (${jobId}, ${orgId}, ${leaseEnd(sql`now()`, compactionSeconds)})
    on conflict (job_id) do update set compacting_until = excluded.compacting_until
      where l.finished_at is null and l.deleted_at is null
        and ${isFree('l.compacting_until', sql`now()`)}
    returning job_id`.execute(db)
  return rows.length > 0
}

/** Deletes chunks that arrived after the log was compacted or deleted. */
export async function deleteStrays(db: Db, jobId: string): Promise<void> {
  await sql`
    delete from job_log_chunks c using job_logs l
    where c.job_id = ${jobId} and l.job_id = ${jobId}
      and (l.finished_at is not null or l.deleted_at is not null)`.execute(db)
}

/** False: the log was deleted meanwhile. */
export async function finishCompaction(
  trx: Trx,
  jobId: string,
  log: { key: string; size: number; rows: { key: string; layout: RowsLayout } | null },
): Promise<boolean> {
  const { rows } = await sql`
    update job_logs set blob_key = ${log.key}, size = ${log.size}, finished_at = now(), compacting_until = null,
      rows_blob_key = ${log.rows?.key ?? null},
      rows_layout = ${log.rows === null ? null : JSON.stringify(log.rows.layout)}::jsonb
    where job_id = ${jobId} and finished_at is null and deleted_at is null
    returning job_id`.execute(trx)
  return rows.length > 0
}

/** False: the log was deleted meanwhile, or another process has stored its rows. */
export async function storeRows(
  trx: Trx,
  orgId: string,
  jobId: string,
  { key, layout }: { key: string; layout: RowsLayout },
): Promise<boolean> {
  const { rows } = await sql`
    update job_logs set rows_blob_key = ${key}, rows_layout = ${JSON.stringify(layout)}::jsonb
    where organization_id = ${orgId} and job_id = ${jobId}
      and blob_key is not null and deleted_at is null and rows_blob_key is null
    returning job_id`.execute(trx)
  return rows.length > 0
}
