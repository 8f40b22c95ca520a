// Carries out what the worker does for commit statuses, by the clock of a context.
import { sql } from 'kysely'
import type { Context } from '../src/context.ts'
import { listPipelinesWithDue } from '../src/resources/builds/commit-statuses/queries.ts'
import { reportStatuses } from '../src/resources/builds/commit-statuses/report.ts'
import { updateStatuses } from '../src/resources/builds/commit-statuses/update-statuses.ts'
import { eventually } from './eventually.ts'

/** Waits until all events are read: a transaction of PostgreSQL itself, such as autovacuum, may be open for a moment. */
export const updateAll = (ctx: Context) =>
  eventually('the outbox is read', async () => {
    await updateStatuses(ctx, new AbortController().signal)
    const { rows } = await sql<{ is_read: boolean }>`
      select c.xid > coalesce((select max(xid) from events), 0) as is_read from commit_status_cursor c`.execute(
      ctx.db,
    )
    return rows[0]?.is_read
  })

export async function reportDue(ctx: Context): Promise<void> {
  const report = async (id: string): Promise<void> =>
    (await reportStatuses(ctx, { pipeline_id: id })) === 0 ? undefined : report(id)
  await Promise.all((await listPipelinesWithDue(ctx.db, ctx.now().toISOString())).map(report))
}
