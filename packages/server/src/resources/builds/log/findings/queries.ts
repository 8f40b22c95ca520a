// SQL on what failed jobs said.
import { sql } from 'kysely'
import type { Db, Trx } from '../../../../db/pool.ts'
import type { Said } from './said.ts'
import type { Findings } from './telling-lines.ts'

interface Found {
  /** null: the log says nothing. */
  log: Findings | null
  said: readonly Said[]
}

/** In the transaction that stores the log as a whole. */
export const storeFindings = async (trx: Trx, jobId: string, found: Found): Promise<void> =>
  upsert(trx, jobId, found)

/**
 * Of a job that has just ended, or about which more was said. The lock makes a deletion of the log wait, so that it deletes these
 * too. What was found in the whole log stays.
 */
export async function storeEarlyFindings(
  trx: Trx,
  orgId: string,
  jobId: string,
  { log, said }: Found,
): Promise<void> {
  await sql`insert into job_logs (job_id, organization_id) values (${jobId}, ${orgId})
    on conflict (job_id) do nothing`.execute(trx)
  const { rows } = await sql<{ is_whole: boolean; is_deleted: boolean }>`
    select finished_at is not null as is_whole, deleted_at is not null as is_deleted from job_logs
    where organization_id = ${orgId} and job_id = ${jobId} for share`.execute(trx)
  const [state] = rows
  if (state === undefined || state.is_deleted) return
  await upsert(trx, jobId, { log: state.is_whole ? await findOfLog(trx, jobId) : log, said })
}

/** The stored lines of the log. */
async function findOfLog(trx: Trx, jobId: string): Promise<Findings | null> {
  const { rows } = await sql<Findings>`
    select text, rows, failing_row as "failingRow", failing_text as "failingText", cause from log_findings
    where job_id = ${jobId} for update`.execute(trx)
  const [stored] = rows
  if (stored === undefined) return null
  const isOfLog = (_: unknown, index: number) => (stored.rows[index] ?? 0) > 0
  const lines = stored.text.split('\n').filter(isOfLog)
  return { ...stored, text: lines.join('\n'), rows: stored.rows.filter(isOfLog) }
}

async function upsert(trx: Trx, jobId: string, { log, said }: Found): Promise<void> {
  const text = [...(log === null ? [] : [log.text]), ...said.flatMap(({ lines }) => lines)]
  const rows = [...(log?.rows ?? []), ...said.flatMap(({ lines }, index) => lines.map(() => -index - 1))]
  if (rows.length === 0) return
  await sql`
    insert into log_findings (job_id, organization_id, pipeline_id, build_id, finished_at, text, rows, failing_row,
      failing_text, cause, sources)
    select j.id, j.organization_id, b.pipeline_id, b.id, j.finished_at, ${text.join('\n')}, ${rows}::int[],
      ${log?.failingRow ?? null}, ${log?.failingText ?? null}, ${log?.cause ?? null},
      ${JSON.stringify(said.map(({ source }) => source))}::jsonb
    from jobs j join builds b on b.id = j.build_id
    where j.id = ${jobId} and (${hasFailed} or ${isAnnotated(log, said)}::boolean and j.finished_at is not null)
    on conflict (job_id) do update set text = excluded.text, rows = excluded.rows, failing_row = excluded.failing_row,
      failing_text = excluded.failing_text, cause = excluded.cause, sources = excluded.sources`.execute(trx)
}

/** Of jobs that have not failed only these are stored. */
const isAnnotated = (log: Findings | null, said: readonly Said[]): boolean =>
  log === null && said.every(({ source }) => source.kind === 'annotation')

/** For queries with `jobs j`. */
export const hasFailed = sql`j.finished_at is not null and j.state in ('failed', 'timed_out')`

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
