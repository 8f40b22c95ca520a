// Test runs that belong to no build. Those of builds are deleted with them.
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../../db/pool.ts'
import { addOne, type Tally } from './report.ts'
import type { Terms } from './selection.ts'

/** They are kept as long as the organization keeps builds. */
export const dueTestRuns = (
  orgId: string,
  { now, defaults, trial }: Terms,
  limit: number | null,
): RawBuilder<unknown> => {
  const tried = trial?.level === 'organization' ? (trial.settings.build_days ?? null) : null
  return sql`
    select r.id, r.created_at
    from test_suites s
    cross join lateral (
      select coalesce(${tried}::integer, (
        select o.build_days from organization_retention o where o.organization_id = ${orgId}),
        ${defaults.build_days}::integer) as days) kept
    join test_runs r on r.suite_id = s.id and r.organization_id = s.organization_id
      and r.created_at < ${now}::timestamptz - make_interval(hours => 24 * kept.days)
    where s.organization_id = ${orgId} and kept.days > 0 and r.build_id is null
    limit ${limit}::bigint`
}

const runsAtOnce = 20

/** False: none is left. A run may have many results, so few are deleted at once. */
export async function deleteTestRuns(db: Db, orgId: string, terms: Terms, to: Tally): Promise<boolean> {
  const { rows } = await sql<{ created_at: string }>`
    delete from test_runs where organization_id = ${orgId} and id in (
      select due.id from (${dueTestRuns(orgId, terms, runsAtOnce)}) due)
    returning created_at`.execute(db)
  for (const { created_at } of rows) addOne(to, { finished_at: created_at, bytes: 0 })
  return rows.length === runsAtOnce
}
