import { sql } from 'kysely'
import type { Db } from '../../../db/pool.ts'

export interface HealthRow {
  received_at: string | null
  event: string | null
  status: number | null
  message: string | null
  polled_at: string | null
  next_poll_at: string | null
  error: string | null
  refs_waiting: number | null
  pulls_read_at: string | null
  pulls_error: string | null
  pushes: number
  undelivered: number
}

export async function getHealth(db: Db, orgId: string, pipelineId: string, now: Date): Promise<HealthRow> {
  const since = new Date(now.getTime() - 7 * 86_400_000).toISOString()
  const { rows } = await sql<HealthRow>`
    select h.received_at, h.event, h.status, h.message, q.polled_at, q.next_poll_at, q.error, q.refs_waiting,
      q.pulls_read_at, q.pulls_error,
      count(r.number)::integer as pushes,
      (count(r.number) filter (where r.delivered_at is null))::integer as undelivered
    from pipelines p
    left join webhook_health h on h.pipeline_id = p.id
    left join pipeline_polls q on q.pipeline_id = p.id
    left join repository_pushes r on r.pipeline_id = p.id and r.seen_at > ${since} and r.commit is not null
      and r.ref ~ '^refs/(heads|tags)/'
    where p.organization_id = ${orgId} and p.id = ${pipelineId}
    group by h.pipeline_id, q.pipeline_id`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('The pipeline is gone.')
  return row
}

interface LastDelivery {
  at: string
  event: string
  status: number
  message: string
}

const longestMessage = 2000

export async function keepDelivery(
  db: Db,
  { id, organization_id }: { id: string; organization_id: string },
  { at, event, status, message }: LastDelivery,
): Promise<void> {
  await sql`
    insert into webhook_health (pipeline_id, organization_id, received_at, event, status, message)
    values (${id}, ${organization_id}, ${at}, ${event}, ${status}, ${message.slice(0, longestMessage).toWellFormed()})
    on conflict (pipeline_id) do update set received_at = excluded.received_at, event = excluded.event,
      status = excluded.status, message = excluded.message`.execute(db)
}

/** False: the repository is not polled. */
export async function askNow(db: Db, orgId: string, pipelineId: string, now: string): Promise<boolean> {
  const { rows } = await sql`
    update pipeline_polls set next_poll_at = least(next_poll_at, ${now})
    where organization_id = ${orgId} and pipeline_id = ${pipelineId} returning pipeline_id`.execute(db)
  return rows.length > 0
}
