// Tests as messages of notification services show them: what holds for everybody, so without figures, which depend on the reader.
import { sql } from 'kysely'
import type { Db } from '../../../db/pool.ts'
import type { Shown } from '../../../notifications/messages/message.ts'
import { suiteUrl, suiteWebUrl, testUrl, testWebUrl } from '../suites/present.ts'

interface SnapshotRow {
  id: string
  organization_slug: string
  suite: { id: string; slug: string; name: string }
  test: Readonly<Record<string, unknown>>
  quarantine: Readonly<Record<string, unknown>> | null
}

const person = (id: string) =>
  sql`(select json_build_object('id', u.id, 'name', u.name) from users u where u.id = ${sql.ref(id)})`

const time = (column: string) =>
  sql`to_char(${sql.ref(column)} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** By the id of the test, which is a hash that has the suite in it. */
export async function loadTests(
  db: Db,
  url: string,
  orgIds: readonly string[],
  suiteIds: readonly string[],
  ids: readonly string[],
): Promise<Map<string, { test: Shown; suite: Shown }>> {
  const { rows } = await sql<SnapshotRow>`
    select t.id, o.slug as organization_slug, json_build_object('id', s.id, 'slug', s.slug, 'name', s.name) as suite,
      json_build_object('scope', t.scope, 'name', t.name, 'location', t.location, 'file_name', t.file_name, 'owner', t.owner,
        'labels', array(select l.name from test_labels l where l.suite_id = t.suite_id and l.test_id = t.id order by l.name),
        'state', t.state, 'first_seen_at', ${time('t.first_seen_at')}, 'last_seen_at', ${time('t.last_seen_at')}) as test,
      case when t.state <> 'enabled' then json_build_object('since', ${time('t.quarantined_at')},
        'by', ${person('t.quarantined_by')}, 'owner', ${person('t.quarantine_owner_id')}, 'reason', t.quarantine_reason,
        'expires_at', ${time('t.quarantine_expires_at')}) end as quarantine
    from tests t join test_suites s on s.id = t.suite_id join organizations o on o.id = t.organization_id
    where t.organization_id = any (${orgIds}::uuid[]) and t.suite_id = any (${suiteIds}::uuid[]) and t.id = any (${ids}::uuid[])`.execute(
    db,
  )
  return new Map(
    rows.map(({ id, organization_slug: org, suite, test, quarantine }) => [
      id,
      {
        test: {
          id,
          url: testUrl(url, org, suite.slug, id),
          web_url: testWebUrl(url, org, suite.slug, id),
          ...test,
          quarantine,
        },
        suite: {
          ...suite,
          url: suiteUrl(url, org, suite.slug),
          web_url: suiteWebUrl(url, org, suite.slug),
        },
      },
    ]),
  )
}
