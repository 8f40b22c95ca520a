// The builds that are yet to skip or cancel older ones of their branch (supersede.ts). The other tables do not tell an older build
// that goes on by mistake from one that was retried, so this one has what remains to be done.
import { sql } from 'kysely'
import type { Db } from '../db/pool.ts'
import { prepared } from '../db/statement.ts'

/** For the transaction of the change that has this follow-up. */
export const keepSuperseding = prepared(
  (buildId: string, organizationId: string, at: string) => sql`
    insert into superseding_builds as s (build_id, organization_id, since) values (${buildId}, ${organizationId}, ${at})
    on conflict (build_id) do update set since = excluded.since, version = s.version + 1`,
)

/** A row with a newer version stays: the build has started meanwhile, and looks for older builds again. */
export async function endSuperseding(
  db: Db,
  { id, version }: { id: string; version: number },
): Promise<void> {
  await sql`delete from superseding_builds where build_id = ${id} and version = ${version}`.execute(db)
}
