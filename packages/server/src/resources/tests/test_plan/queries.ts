import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/pool.ts'

const keptDays = 7

/** Of all plans of a suite; the oldest go first. */
const mostBytes = 256 * 1024 * 1024

export async function find(
  db: Db,
  orgId: string,
  suiteId: string,
  identifier: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ plan: string }>`
    select plan from test_plans
    where organization_id = ${orgId} and suite_id = ${suiteId} and identifier = ${identifier}`.execute(db)
  return rows[0]?.plan
}

/** A plan that is there stays. */
export async function insert(
  trx: Trx,
  row: { organizationId: string; suiteId: string; identifier: string; plan: string; now: Date },
): Promise<void> {
  const { organizationId, suiteId, identifier, plan, now } = row
  await sql`
    insert into test_plans (organization_id, suite_id, identifier, plan, size_bytes, created_at)
    values (${organizationId}, ${suiteId}, ${identifier}, ${plan}, octet_length(${plan}::text), ${now.toISOString()})
    on conflict (suite_id, identifier) do nothing`.execute(trx)
}

export async function expire(trx: Trx, orgId: string, suiteId: string, now: Date): Promise<void> {
  const before = new Date(now.getTime() - keptDays * 24 * 60 * 60 * 1000).toISOString()
  await sql`
    delete from test_plans where organization_id = ${orgId} and suite_id = ${suiteId} and identifier in (
      select p.identifier from (
        select identifier, created_at, sum(size_bytes) over (order by created_at desc, identifier) as held
        from test_plans where suite_id = ${suiteId}) p
      where p.created_at < ${before} or p.held > ${mostBytes})`.execute(trx)
}
