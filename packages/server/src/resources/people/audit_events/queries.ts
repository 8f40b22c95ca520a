import { sql, type RawBuilder } from 'kysely'
import { typesNamed } from '../../../audit/types.ts'
import type { Db } from '../../../db/pool.ts'
import type { Position } from '../../../http/cursors.ts'
import { notFound } from '../../../lib/errors.ts'

export interface AuditEventRow {
  id: string
  type: string
  occurred_at: string
  actor: { type: string; uuid: string; name: string } | null
  subject: { type: string; uuid: string; name: string | null }
  context: { type: string; [field: string]: unknown } | null
  data: Record<string, unknown>
}

const columns = sql`id, type, occurred_at, actor, subject, context, data`

interface AuditFilter {
  type?: string
  /** The id of who did it. */
  actor?: string
  /** The id of what it is about. */
  subject?: string
  from?: string
  to?: string
  /** Part of the name of the actor or of the subject. */
  q?: string
}

const matches = ({ type, actor, subject, from, to, q }: AuditFilter): RawBuilder<boolean> => {
  const conditions = [
    type === undefined ? null : sql`type = any (${typesNamed(type)}::text[])`,
    actor === undefined ? null : sql`actor ->> 'uuid' = lower(${actor})`,
    subject === undefined ? null : sql`subject ->> 'uuid' = lower(${subject})`,
    from === undefined ? null : sql`occurred_at >= ${from}`,
    to === undefined ? null : sql`occurred_at < ${to}`,
    q === undefined
      ? null
      : sql`(position(lower(${q}) in lower(actor ->> 'name')) > 0
          or position(lower(${q}) in lower(subject ->> 'name')) > 0)`,
  ]
  return sql<boolean>`${sql.join([sql`true`, ...conditions.filter((one) => one !== null)], sql` and `)}`
}

/** Newest first; with `before`, oldest first. */
export async function listInOrg(
  db: Db,
  orgId: string,
  filter: AuditFilter,
  page: { after: Position | null; before: Position | null; limit: number },
): Promise<AuditEventRow[]> {
  const { after, before } = page
  const behind = after ? sql`and (occurred_at, id) < (${after.at}, ${after.id})` : sql``
  const ahead = before ? sql`and (occurred_at, id) > (${before.at}, ${before.id})` : sql``
  const order = before ? sql`occurred_at, id` : sql`occurred_at desc, id desc`
  const { rows } = await sql<AuditEventRow>`
    select ${columns} from audit_events where organization_id = ${orgId} and ${matches(filter)}
      ${behind} ${ahead}
    order by ${order} limit ${page.limit}`.execute(db)
  return rows
}

export async function getInOrg(db: Db, orgId: string, id: string): Promise<AuditEventRow> {
  const { rows } = await sql<AuditEventRow>`
    select ${columns} from audit_events where organization_id = ${orgId} and id = ${id}`.execute(db)
  const [event] = rows
  if (event === undefined) throw notFound('No audit event found')
  return event
}
