// SQL on the checkpoints of growing logs.
import { sql } from 'kysely'
import type { Db, Trx } from '../../../../db/pool.ts'
import { inTransaction } from '../../../../db/transaction.ts'
import type { Group } from './outline.ts'
import type { ReplayState } from './replay.ts'

export interface CheckpointRow {
  byte_offset: number
  row_count: number
  state: Buffer
}

export const stateOf = (row: CheckpointRow): ReplayState => ({
  offset: row.byte_offset,
  rows: row.row_count,
  packed: row.state,
})

/** The last checkpoint after which row `row` begins; null: the start of the log. */
export async function findCheckpointBefore(
  db: Db,
  orgId: string,
  jobId: string,
  row: number,
): Promise<ReplayState | null> {
  const { rows } = await sql<CheckpointRow>`
    select byte_offset, row_count, state from job_log_checkpoints
    where organization_id = ${orgId} and job_id = ${jobId} and row_count < ${row}::bigint
    order by byte_offset desc limit 1`.execute(db)
  return rows[0] === undefined ? null : stateOf(rows[0])
}

export const findLastCheckpoint = (db: Db, orgId: string, jobId: string): Promise<ReplayState | null> =>
  findCheckpointBefore(db, orgId, jobId, Number.MAX_SAFE_INTEGER)

/** The last checkpoint at byte `offset` or before it. null: there is none. */
export async function findCheckpointAt(
  db: Db,
  orgId: string,
  jobId: string,
  offset: number,
): Promise<ReplayState | null> {
  const { rows } = await sql<CheckpointRow>`
    select byte_offset, row_count, state from job_log_checkpoints
    where organization_id = ${orgId} and job_id = ${jobId} and byte_offset <= ${offset}::bigint
    order by byte_offset desc limit 1`.execute(db)
  return rows[0] === undefined ? null : stateOf(rows[0])
}

/** The groups that began before the checkpoint at `offset`. */
export async function listGroups(db: Db, orgId: string, jobId: string, offset: number): Promise<Group[]> {
  const { rows } = await sql<{ groups: Group[] }>`
    select groups from job_log_checkpoints
    where organization_id = ${orgId} and job_id = ${jobId} and byte_offset <= ${offset}::bigint
      and groups <> '[]'
    order by byte_offset`.execute(db)
  return rows.flatMap(({ groups }) => groups)
}

/** False: the log was compacted or deleted meanwhile. */
export async function insertCheckpoint(
  db: Db,
  orgId: string,
  jobId: string,
  { state, groups }: { state: ReplayState; groups: readonly Group[] },
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    // The lock makes a deletion of the log wait, so that it deletes this checkpoint too.
    await sql`insert into job_logs (job_id, organization_id) values (${jobId}, ${orgId})
      on conflict (job_id) do nothing`.execute(trx)
    const { rows } = await sql`
      select from job_logs where organization_id = ${orgId} and job_id = ${jobId}
        and finished_at is null and deleted_at is null
      for share`.execute(trx)
    if (rows.length === 0) return false
    await sql`
      insert into job_log_checkpoints (job_id, organization_id, byte_offset, row_count, state, groups)
      values (${jobId}, ${orgId}, ${state.offset}, ${state.rows}, ${Buffer.from(state.packed)},
        ${JSON.stringify(groups)}::jsonb)
      on conflict (job_id, byte_offset) do nothing`.execute(trx)
    return true
  })
}

export async function deleteCheckpoints(trx: Trx, jobId: string): Promise<void> {
  await trx.deleteFrom('job_log_checkpoints').where('job_id', '=', jobId).execute()
}
