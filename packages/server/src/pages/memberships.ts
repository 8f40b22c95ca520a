import { sql } from 'kysely'
import type { Db } from '../db/pool.ts'

/** The user of the session, and their organizations that the session's token may use. */
export async function listMemberships(
  db: Db,
  sessionId: string,
): Promise<{ user: string; organizations: Array<{ slug: string; name: string }> }> {
  const { rows } = await sql<{ user: string; slug: string | null; name: string }>`
    select u.name as user, o.slug, o.name from web_sessions w
    join api_access_tokens t on t.id = w.access_token_id join users u on u.id = t.user_id
    left join (organizations o join organization_members m on m.organization_id = o.id)
      on m.user_id = u.id and (t.organization_ids is null or o.id = any (t.organization_ids))
    where w.id = ${sessionId} order by o.name, o.id`.execute(db)
  return {
    user: rows[0]?.user ?? '',
    organizations: rows.flatMap(({ slug, name }) => (slug === null ? [] : [{ slug, name }])),
  }
}
