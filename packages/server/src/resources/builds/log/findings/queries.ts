// SQL on what failed jobs said.
import { sql } from 'kysely'
import type { Db, Trx } from '../../../../db/pool.ts'
import type { Findings } from './telling-lines.ts'

/** In the transaction that stores the log as a whole, so these are the last. */
export async function storeFindings(trx: Trx, jobId: string, found: Findings): Promise<void> {
  await sql`
    ${insert(jobId, found)}
    on conflict (job_id) do update set text = excluded.text, rows = excluded.rows, failing_row = excluded.failing_row,
      failing_text = excluded.failing_text, cause = excluded.cause`.execute(trx)
}

/** Of a log that is still in chunks. The lock makes a deletion of the log wait, so that it deletes these too. */
export async function storeEarlyFindings(
  trx: Trx,
  orgId: string,
  jobId: string,
  found: Findings,
): Promise<void> {
  await sql`insert into job_logs (job_id, organization_id) values (${jobId}, ${orgId})
    on conflict (job_id) do nothing`.execute(trx)
  const { rows } = await sql`
    select from job_logs where organization_id = ${orgId} and job_id = ${jobId}
      and finished_at is null and deleted_at is null
    for share`.execute(trx)
  if (rows.length > 0) await sql`${insert(jobId, found)} on conflict (job_id) do nothing`.execute(trx)
}

const insert = (jobId: string, found: Findings) => sql`
  insert into log_findings (job_id, organization_id, pipeline_id, build_id, finished_at, text, rows, failing_row,
    failing_text, cause)
  select j.id, j.organization_id, b.pipeline_id, b.id, j.finished_at, ${found.text}, ${found.rows}::int[],
    ${found.failingRow}, ${found.failingText}, ${found.cause}
  from jobs j join builds b on b.id = j.build_id
  where j.id = ${jobId} and ${hasFailed}`

/** For queries with `jobs j`. */
const hasFailed = sql`j.finished_at is not null and j.state in ('failed', 'timed_out')`

export async function isFailed(db: Db, orgId: string, jobId: string): Promise<boolean> {
  const { rows } = await sql`
    select from jobs j where j.organization_id = ${orgId} and j.id = ${jobId} and ${hasFailed}`.execute(db)
  return rows.length > 0
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
