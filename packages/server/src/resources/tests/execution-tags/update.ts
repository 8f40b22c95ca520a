import { sql } from 'kysely'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { forbidden, validationFailed } from '../../../lib/errors.ts'
import * as suites from '../suites/queries.ts'
import { clean } from '../test_runs/clean.ts'
import type { ExecutionTags } from './schema.ts'

const mostTags = 10
const named = /^mut\.\S{1,46}$/

/** Replaces the tags of these executions. Of one that is named twice, the last counts. */
export async function updateExecutionTags(
  { ctx, org, caller }: RequestContext,
  suiteSlug: string,
  executions: readonly ExecutionTags[],
): Promise<number> {
  const tagsOf = new Map(executions.map(({ id, tags }) => [id.toLowerCase(), readTags(tags)]))
  const [set, cleared] = [[...tagsOf].filter(hasTags), [...tagsOf].filter((one) => !hasTags(one))]
  const rows = set.map(([id, tags]) => ({ id, tags })).toSorted((a, b) => (a.id < b.id ? -1 : 1))
  await inTransaction(ctx.db, async (trx) => {
    const suite = await suites.getBySlug(trx, org, caller, suiteSlug)
    await suites.holdInOrg(trx, org.id, suite.id)
    if (!suite.may_quarantine) throw forbidden()
    await sql`
      insert into execution_tags (organization_id, suite_id, execution_id, tags, set_at)
      select ${org.id}, ${suite.id}, g.id, g.tags, ${ctx.now().toISOString()}
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g (id uuid, tags jsonb) order by g.id
      on conflict (suite_id, execution_id) do update set tags = excluded.tags, set_at = excluded.set_at`.execute(
      trx,
    )
    await sql`
      delete from execution_tags where suite_id = ${suite.id}
        and execution_id = any (${cleared.map(([id]) => id)}::uuid[])`.execute(trx)
  })
  return tagsOf.size
}

const hasTags = ([, tags]: [string, object]): boolean => Object.keys(tags).length > 0

function readTags(tags: ExecutionTags['tags']): Record<string, string> {
  const entries = Object.entries(tags)
  if (entries.length > mostTags) throw validationFailed(`tags may be ${mostTags} of an execution`)
  if (!entries.every(([name]) => named.test(name))) {
    throw validationFailed('tags must have names that begin with mut. and have at most 50 characters')
  }
  return Object.fromEntries(entries.map(([name, value]) => [clean(name, 50), clean(value, 255)]))
}
