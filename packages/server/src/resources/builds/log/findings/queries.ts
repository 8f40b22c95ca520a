// SQL on what failed jobs said.
import { sql } from 'kysely'
import type { Db, Trx } from '../../../../db/pool.ts'
import type { Findings } from './telling-lines.ts'

/** In the transaction that stores the log. */
export async function insertFindings(trx: Trx, jobId: string, found: Findings): Promise<void> {
  await sql`
    insert into log_findings (job_id, organization_id, pipeline_id, build_id, finished_at, text, rows, failing_row,
      failing_text, cause)
    select j.id, j.organization_id, b.pipeline_id, b.id, j.finished_at, ${found.text}, ${found.rows}::int[],
      ${found.failingRow}, ${found.failingText}, ${found.cause}
    from jobs j join builds b on b.id = j.build_id
    where j.id = ${jobId} and j.finished_at is not null and j.state in ('failed', 'timed_out')
    on conflict (job_id) do nothing`.execute(trx)
}

const deletedAtOnce = 500

export async function expireFindings(db: Db, now: Date, days: number): Promise<void> {
  const before = new Date(now.getTime() - days * 24 * 60 * 60 * 1000).toISOString()
  for (;;) {
    const { numAffectedRows } = await sql`
      delete from log_findings where job_id in (
        select job_id from log_findings where finished_at < ${before}::timestamptz limit ${deletedAtOnce})`.execute(
      db,
    )
    if (Number(numAffectedRows ?? 0) < deletedAtOnce) return
  }
}
