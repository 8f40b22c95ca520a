// SQL on the logs of several jobs at once. Reads only their ends.
import { sql } from 'kysely'
import { batch } from '../../../db/batch.ts'
import type { Db } from '../../../db/pool.ts'
import type { StoredChunk } from '../log/plan.ts'
import type { RowsLayout } from '../log/queries.ts'
import type { CheckpointRow } from '../log/rows/checkpoint-queries.ts'

export interface LogRow {
  job_id: string
  is_ended: boolean
  is_agent_lost: boolean
  is_truncated: boolean
  is_deleted: boolean
  blob_key: string | null
  size: number
  rows_blob_key: string | null
  rows_layout: RowsLayout | null
}

export interface EndChunk extends StoredChunk {
  job_id: string
  data: Buffer
}

export interface Checkpoint extends CheckpointRow {
  job_id: string
}

/** More chunks than these are not looked at. */
const mostChunks = 300

/**
 * The last bytes of each log, at least `mostBytes` if it has them. The rows of job_logs are read last: a log without chunks that is
 * not compacted then is empty.
 */
export async function readEnds(
  db: Db,
  orgId: string,
  jobIds: readonly string[],
  mostBytes: number,
): Promise<{ checkpoints: Checkpoint[]; chunks: EndChunk[]; logs: LogRow[] }> {
  const wanted = sql`(
    select j.id from jobs j where j.organization_id = ${orgId} and j.id = any (${[...jobIds]}::uuid[]) and j.kind = 'script')`
  const [checkpoints, chunks, logs] = await batch(db, [
    sql<Checkpoint>`
      select distinct on (c.job_id) c.job_id, c.byte_offset, c.row_count, c.state from job_log_checkpoints c
      where c.organization_id = ${orgId} and c.job_id = any (${[...jobIds]}::uuid[])
      order by c.job_id, c.byte_offset desc`,
    sql<EndChunk>`
      select d.job_id, d.sequence, d.byte_offset, d.size, d.data from ${wanted} w cross join lateral (
        select last.job_id, last.sequence, sum(last.size) over (order by last.ends_at desc, last.sequence) - last.size as after
        from (
          select c.job_id, c.sequence, c.size, c.byte_offset + c.size as ends_at from job_log_chunks c
          where c.job_id = w.id order by c.byte_offset + c.size desc limit ${mostChunks}) last
      ) chosen join job_log_chunks d on d.job_id = chosen.job_id and d.sequence = chosen.sequence
      where chosen.after < ${mostBytes}`,
    sql<LogRow>`
      select j.id as job_id, j.finished_at is not null as is_ended, coalesce(j.reason = 'agent_lost', false) as is_agent_lost,
        coalesce(l.is_truncated, false) as is_truncated, l.deleted_at is not null as is_deleted, l.blob_key,
        coalesce(l.size, 0) as size, l.rows_blob_key, l.rows_layout
      from jobs j left join job_logs l on l.job_id = j.id
      where j.organization_id = ${orgId} and j.id = any (${[...jobIds]}::uuid[]) and j.kind = 'script'`,
  ])
  return { checkpoints, chunks, logs }
}
