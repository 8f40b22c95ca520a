// Compaction deletes the chunks of a log. What is left of a week afterwards is an empty partition that may have grown large.
import { sql } from 'kysely'
import { dropPartitions } from '../../../../db/partitions.ts'
import type { Db } from '../../../../db/pool.ts'

const keptDays = 7

/** Chunks of jobs that are older than the partitions go to the default partition. */
export async function expireLogChunks(db: Db, now: Date): Promise<void> {
  await dropPartitions(db, 'job_log_chunks', new Date(now.getTime() - keptDays * 24 * 60 * 60 * 1000), {
    async mayDrop(trx, { from, to }) {
      const { rows } = await sql`
        select from job_log_chunks where job_id < ${to} and (${from}::uuid is null or job_id >= ${from}) limit 1`.execute(
        trx,
      )
      return rows.length === 0
    },
  })
}
