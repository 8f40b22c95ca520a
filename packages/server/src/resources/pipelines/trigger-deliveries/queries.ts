import { sql } from 'kysely'
import type { Db } from '../../../db/pool.ts'
import { newId } from '../../../lib/ids.ts'

/** Of each trigger. */
const mostKept = 50

interface NewDelivery {
  at: string
  headers: Record<string, string>
  body: string
  body_bytes: number
  status: number
  message: string
  build: { id: string; number: number } | null
}

const longestMessage = 2000

/** Older ones are deleted. */
export async function keepTriggerDelivery(
  db: Db,
  { id, organization_id }: { id: string; organization_id: string },
  { at, headers, body, body_bytes, status, message, build }: NewDelivery,
): Promise<void> {
  await sql`
    insert into trigger_deliveries (id, organization_id, trigger_id, received_at, headers, body, body_bytes, status, message,
      build_id, build_number)
    select ${newId()}, t.organization_id, t.id, ${at}, ${JSON.stringify(headers)}, ${body}, ${body_bytes}, ${status},
      ${message.slice(0, longestMessage).toWellFormed()}, ${build?.id ?? null}, ${build?.number ?? null}
    from pipeline_triggers t where t.organization_id = ${organization_id} and t.id = ${id}`.execute(db)
  // Those that a transaction beside this one deletes are its own.
  await sql`
    delete from trigger_deliveries where id in (
      select id from trigger_deliveries where organization_id = ${organization_id} and trigger_id = ${id}
      order by id desc offset ${mostKept} for update skip locked)`.execute(db)
}

export interface DeliveryRow {
  id: string
  trigger_id: string
  pipeline_slug: string
  received_at: string
  status: number
  message: string
  build_id: string | null
  build_number: number | null
  body_bytes: number
}

export interface WholeDeliveryRow extends DeliveryRow {
  headers: Record<string, string>
  body: string
}

const columns = sql`
  d.id, d.trigger_id, p.slug as pipeline_slug, d.received_at, d.status, d.message, d.build_id, d.build_number, d.body_bytes`

const from = sql`
  from trigger_deliveries d join pipeline_triggers t on t.id = d.trigger_id join pipelines p on p.id = t.pipeline_id`

interface Of {
  pipeline: string
  trigger: string
}

const isOf = (orgId: string, { pipeline, trigger }: Of) =>
  sql`p.organization_id = ${orgId} and p.slug = ${pipeline} and t.id = ${trigger}`

export async function listOfTrigger(
  db: Db,
  orgId: string,
  of: Of,
  page: { limit: number; offset: number },
): Promise<DeliveryRow[]> {
  const { rows } = await sql<DeliveryRow>`
    select ${columns} ${from} where ${isOf(orgId, of)}
    order by d.id desc limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

export async function findOfTrigger(
  db: Db,
  orgId: string,
  of: Of,
  id: string,
): Promise<WholeDeliveryRow | undefined> {
  const { rows } = await sql<WholeDeliveryRow>`
    select ${columns}, d.headers, d.body ${from} where ${isOf(orgId, of)} and d.id = ${id}`.execute(db)
  return rows[0]
}
