// SQL of compaction: which logs are to be compacted, and which worker does it.
import { sql, type RawBuilder } from 'kysely'
import type { Db, Trx } from '../../../../db/pool.ts'
import { prepared } from '../../../../db/statement.ts'
import type { Kinds } from '../../../../tasks/kinds.ts'
import { isFree, leaseEnd } from '../../../../tasks/lease.ts'
import { storeFindings } from '../findings/queries.ts'
import type { Said } from '../findings/said.ts'
import type { WrittenRows } from '../rows/rows-object.ts'

/** After the end of a job. By then a statement that began within the grace period for chunks has ended too. */
export const endedSeconds = 120
const compactionSeconds = 600

const isNotCompacting = isFree('l.compacting_until', sql`now()`)

/** Without an organization the job is deleted. */
export type EndedLog = Kinds['compact_log']

/** The jobs with chunks. Reads one entry of the index for each log, however many chunks it has. */
const withChunks = sql`
  with recursive with_chunks as (
    (select job_id from job_log_chunks order by job_id limit 1)
    union all
    select (select c.job_id from job_log_chunks c where c.job_id > w.job_id order by c.job_id limit 1)
    from with_chunks w where w.job_id is not null
  )`

/** `isWanted` is a condition on `with_chunks w`. Any log of a job that gets no more chunks and that no worker compacts. Passes over the logs of all running jobs. */
export async function listEnded(db: Db, isWanted: RawBuilder<boolean>, limit: number): Promise<EndedLog[]> {
  const { rows } = await sql<EndedLog>`
    ${withChunks}
    select w.job_id, j.organization_id
    from with_chunks w left join jobs j on j.id = w.job_id left join job_logs l on l.job_id = w.job_id
    where w.job_id is not null and ${isNotCompacting} and ${isWanted}
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
export async function claim(db: Db, jobIds: readonly string[]): Promise<string[]> {
  const { rows } = await insertClaims(jobIds).execute(db)
  return rows.map(({ job_id }) => job_id)
}

/** In the order of the ids, so that two workers do not wait for each other. */
const insertClaims = prepared(
  (jobIds: readonly string[]) => sql<{ job_id: string }>`
    insert into job_logs as l (job_id, organization_id, compacting_until)
    select j.id, j.organization_id, ${leaseEnd(sql`now()`, compactionSeconds)}
    from jobs j where j.id = any (${jobIds}::uuid[]) order by j.id
    on conflict (job_id) do update set compacting_until = excluded.compacting_until
      where l.finished_at is null and l.deleted_at is null and ${isNotCompacting}
    returning job_id`,
)

/** For a worker that stops before it begins. */
export async function release(db: Db, jobIds: readonly string[]): Promise<void> {
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
export async function finish(
  trx: Trx,
  jobId: string,
  { key, size, rows, said }: { key: string; size: number; rows: WrittenRows; said: readonly Said[] },
): Promise<boolean> {
  const { rows: updated } = await sql`
    update job_logs set blob_key = ${key}, size = ${size}, finished_at = now(), compacting_until = null,
      rows_blob_key = ${rows.stored.key}, rows_layout = ${JSON.stringify(rows.stored.layout)}::jsonb,
      sketch = ${Buffer.from(rows.sketch)}
    where job_id = ${jobId} and finished_at is null and deleted_at is null
    returning job_id`.execute(trx)
  if (updated.length === 0) return false
  await storeFindings(trx, jobId, { log: rows.findings, said })
  return true
}

/** Of ended jobs: how many logs are still chunks, and for how long the oldest one could have been compacted. */
export async function countEnded(db: Db): Promise<{ logs: number; oldest_seconds: number } | undefined> {
  const { rows } = await sql<{ logs: number; oldest_seconds: number }>`
    ${withChunks}
    select count(*)::int as logs,
      coalesce(extract(epoch from now() - min(j.finished_at)) - ${endedSeconds}, 0)::float8 as oldest_seconds
    from with_chunks w join jobs j on j.id = w.job_id
    where j.finished_at < now() - make_interval(secs => ${endedSeconds})`.execute(db)
  return rows[0]
}
