import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/pool.ts'
import { prepared } from '../../../db/statement.ts'
import { isFree, leaseEnd } from '../../../tasks/lease.ts'
import type { Kinds } from '../../../tasks/kinds.ts'
import type { StoredChunk } from './plan.ts'

/** Chunks are accepted for this long after the end of the job. */
const graceSeconds = 60
/** By then a statement that began within the grace period has ended too. */
export const endedSeconds = 120
const compactionSeconds = 600

export interface Chunk extends StoredChunk {
  data: Buffer
}

export interface ChunkOfJob extends Chunk {
  organization_id: string
  job_id: string
}

/** A repeated chunk changes nothing. A chunk that is late, or of an unknown job or a deleted log, is ignored. */
export async function insertChunks(db: Db, chunks: readonly ChunkOfJob[]): Promise<void> {
  // Two statements with the same chunks, from an agent that repeats itself, lock them in the same order.
  const sorted = chunks.toSorted(
    (a, b) => (a.job_id < b.job_id ? -1 : a.job_id > b.job_id ? 1 : 0) || a.sequence - b.sequence,
  )
  let end = 0
  const ends = sorted.map(({ data }) => (end += data.length))
  await insertSorted(
    sorted.map(({ organization_id }) => organization_id),
    sorted.map(({ job_id }) => job_id),
    sorted.map(({ sequence }) => sequence),
    sorted.map(({ byte_offset }) => byte_offset),
    sorted.map(({ size }) => size),
    sorted.map(({ data }) => data.length),
    ends,
    Buffer.concat(sorted.map(({ data }) => data)),
  ).execute(db)
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
  ) => sql`
    insert into job_log_chunks (job_id, sequence, byte_offset, size, data)
    select j.id, c.sequence, c.byte_offset, c.size, substring(${data}::bytea from c.ends_at - c.length + 1 for c.length)
    from unnest(${organizationIds}::uuid[], ${jobIds}::uuid[], ${sequences}::int[], ${offsets}::bigint[], ${sizes}::int[],
        ${lengths}::int[], ${ends}::int[])
      as c (organization_id, job_id, sequence, byte_offset, size, length, ends_at)
    join jobs j on j.organization_id = c.organization_id and j.id = c.job_id
    where (j.finished_at is null or j.finished_at > now() - make_interval(secs => ${graceSeconds}))
      and not exists (select from job_logs l where l.job_id = j.id
        and (l.deleted_at is not null or l.finished_at is not null or l.is_full))
    on conflict (job_id, sequence) do nothing`,
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

const isNotCompacting = isFree('l.compacting_until', sql`now()`)

/** Without an organization the job is deleted. */
export type EndedLog = Kinds['compact_log']

/** Any log of a job that gets no more chunks and that no worker compacts. Passes over the logs of all running jobs. */
export async function listEnded(db: Db, limit: number): Promise<EndedLog[]> {
  const { rows } = await sql<EndedLog>`
    with recursive with_chunks as (
      (select job_id from job_log_chunks order by job_id limit 1)
      union all
      select (select c.job_id from job_log_chunks c where c.job_id > w.job_id order by c.job_id limit 1)
      from with_chunks w where w.job_id is not null
    )
    select w.job_id, j.organization_id
    from with_chunks w left join jobs j on j.id = w.job_id left join job_logs l on l.job_id = w.job_id
    where w.job_id is not null and ${isNotCompacting}
      and (j.id is null or j.finished_at < now() - make_interval(secs => ${endedSeconds}))
    limit ${limit}`.execute(db)
  return rows
}

/** The same, only of jobs that ended in this time and whose queue still exists. */
export async function listEndedBetween(
  db: Db,
  { after, until }: { after: string; until: string },
  limit: number,
): Promise<EndedLog[]> {
  return (await endedBetween(after, until, limit).execute(db)).rows
}

/** The index of ended jobs begins with their queue. */
const endedBetween = prepared(
  (after: string, until: string, limit: number) => sql<EndedLog>`
    select ended.job_id, ended.organization_id from cluster_queues q cross join lateral (
      select j.id as job_id, j.organization_id, j.finished_at from jobs j left join job_logs l on l.job_id = j.id
      where j.queue_id = q.id and j.finished_at >= ${after}::timestamptz and j.finished_at < ${until}::timestamptz
        and exists (select from job_log_chunks c where c.job_id = j.id) and ${isNotCompacting}
      order by j.finished_at limit ${limit}
    ) ended order by ended.finished_at limit ${limit}`,
)

/** Returns those that this worker compacts. Others are compacted by another worker, or are compacted or deleted already. */
export async function claimCompactions(db: Db, jobIds: readonly string[]): Promise<string[]> {
  const { rows } = await claim(jobIds).execute(db)
  return rows.map(({ job_id }) => job_id)
}

/** In the order of the ids, so that two workers do not wait for each other. */
const claim = prepared(
  (jobIds: readonly string[]) => sql<{ job_id: string }>`
    insert into job_logs as l (job_id, organization_id, compacting_until)
    select j.id, j.organization_id, ${leaseEnd(sql`now()`, compactionSeconds)}
    from jobs j where j.id = any (${jobIds}::uuid[]) order by j.id
    on conflict (job_id) do update set compacting_until = excluded.compacting_until
      where l.finished_at is null and l.deleted_at is null and ${isNotCompacting}
    returning job_id`,
)

/** For a worker that stops before it begins. */
export async function releaseCompactions(db: Db, jobIds: readonly string[]): Promise<void> {
  await sql`update job_logs set compacting_until = null where job_id = any (${jobIds}::uuid[])`.execute(db)
}

/** Deletes chunks that arrived after their log was compacted or deleted. */
export async function deleteStrays(db: Db, jobIds: readonly string[]): Promise<void> {
  await sql`
    delete from job_log_chunks c using job_logs l
    where c.job_id = any (${jobIds}::uuid[]) and l.job_id = c.job_id
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
