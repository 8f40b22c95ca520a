import { sql } from 'kysely'
import type { Db } from '../../../db/pool.ts'
import type { EventName, StepEventName } from '../../../notifications/names.ts'
import type { Target } from '../../../notifications/outbox/targets.ts'
import type { DeliveryRow } from '../deliveries/queries.ts'

export interface BuildDeliveryRow extends Omit<DeliveryRow, 'event' | 'build_url'> {
  event: EventName | StepEventName
  target: Target
  error: string | null
}

const columns = sql`
  d.id, d.owner_id, d.ordered_queue, d.message_id, d.target, m.event, d.state, d.attempts, m.occurred_at, d.created_at,
  d.finished_at, (
    select a.error from notification_attempts a where a.delivery_id = d.id order by a.number desc limit 1) as error,
  case when d.state = 'pending' then (
    select q.due_at from notification_queues q where q.owner_id = d.owner_id and q.ordered_queue = d.ordered_queue) end as next_attempt_at`

/** The ordered queue (`ordered_queue`) of a `notify` delivery is named after its build, unless `build_id` is set. */
const ofBuild = (orgId: string, buildId: string) =>
  sql`d.organization_id = ${orgId} and d.target is not null and coalesce(d.build_id::text, d.ordered_queue) = ${buildId}`

/** In the order of their events. */
export async function listOfBuild(
  db: Db,
  orgId: string,
  buildId: string,
  state: string | undefined,
  { limit, offset }: { limit: number; offset: number },
): Promise<BuildDeliveryRow[]> {
  const { rows } = await sql<BuildDeliveryRow>`
    select ${columns} from notification_deliveries d join notification_messages m on m.id = d.message_id
    where ${ofBuild(orgId, buildId)} and (${state ?? null}::text is null or d.state = ${state ?? null})
    order by d.seq limit ${limit} offset ${offset}`.execute(db)
  return rows
}

export async function findOfBuild(
  db: Db,
  orgId: string,
  buildId: string,
  id: string,
): Promise<BuildDeliveryRow | undefined> {
  const { rows } = await sql<BuildDeliveryRow>`
    select ${columns} from notification_deliveries d join notification_messages m on m.id = d.message_id
    where ${ofBuild(orgId, buildId)} and d.id = ${id}`.execute(db)
  return rows[0]
}
