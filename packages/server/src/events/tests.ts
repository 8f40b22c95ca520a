// Appends events of tests to the outbox. Only notifications read these.
import { sql } from 'kysely'
import type { Trx } from '../db/pool.ts'

export type TestEvent =
  | 'test.flaky'
  | 'test.muted'
  | 'test.skipped'
  | 'test.enabled'
  | 'test.quarantine_expired'

interface Tests {
  organizationId: string
  suiteId: string
  ids: readonly string[]
}

/** `personId` null: nobody has asked for it. */
export async function publishTests(
  trx: Trx,
  kind: TestEvent,
  { organizationId, suiteId, ids }: Tests,
  personId: string | null,
  at: string,
): Promise<void> {
  if (ids.length === 0) return
  await sql`
    insert into events (organization_id, kind, data, created_at)
    select ${organizationId}, ${kind}, jsonb_strip_nulls(jsonb_build_object('test_id', id, 'suite_id', ${suiteId}::text,
      'person_id', ${personId}::text)), ${at}
    from unnest(${ids}::uuid[]) id`.execute(trx)
}
