import { sql } from 'kysely'
import { eachRowApart, type LoopContext } from '../../../db/each-row.ts'

/** Of the results by day, of tests that no longer run, and of tags of executions. */
const keptDays = 90

const deletedAtOnce = 5000

/** Tests in quarantine are kept: they would fail again. */
export async function expireTests(ctx: LoopContext): Promise<void> {
  const before = new Date(ctx.now().getTime() - keptDays * 24 * 60 * 60 * 1000).toISOString()
  const oldDays = sql`d.day < ${before.slice(0, 10)}`
  const oldTests = sql`t.last_seen_at < ${before} and t.state = 'enabled'`
  const oldTags = sql`e.set_at < ${before}`
  const { rows } = await sql<{ id: string }>`
    select s.id from test_suites s
    where exists (select from test_days d where d.suite_id = s.id and ${oldDays})
      or exists (select from tests t where t.suite_id = s.id and ${oldTests})
      or exists (select from execution_tags e where e.suite_id = s.id and ${oldTags}) order by s.id`.execute(
    ctx.db,
  )
  const inBatches = async (delete_: () => Promise<{ numAffectedRows?: bigint }>) => {
    while (Number((await delete_()).numAffectedRows ?? 0) === deletedAtOnce);
  }
  await eachRowApart(
    ctx,
    'tests',
    rows,
    ({ id }) => id,
    async ({ id }) => {
      await inBatches(() =>
        sql`
          delete from test_days where suite_id = ${id} and (day, test_id, origin_id) in (
            select d.day, d.test_id, d.origin_id from test_days d where d.suite_id = ${id} and ${oldDays}
            limit ${deletedAtOnce})`.execute(ctx.db),
      )
      await inBatches(() =>
        sql`
          delete from execution_tags where suite_id = ${id} and execution_id in (
            select e.execution_id from execution_tags e where e.suite_id = ${id} and ${oldTags} limit ${deletedAtOnce})`.execute(
          ctx.db,
        ),
      )
      await inBatches(() =>
        sql`
          delete from tests t where t.suite_id = ${id} and ${oldTests} and t.id in (
            select t.id from tests t where t.suite_id = ${id} and ${oldTests} limit ${deletedAtOnce})`.execute(
          ctx.db,
        ),
      )
    },
  )
}
