// Deliveries that were given up. After many in a row a service counts as broken: nothing more is sent to it until a person
// enables it.
import { sql } from 'kysely'
import { recordAudit } from '../../audit/record.ts'
import type { Trx } from '../../db/pool.ts'
import type { Outcome } from './attempt.ts'

const mostDeadLetters = 50

interface CountedService {
  id: string
  organization_id: string
  description: string
  provider: string
  count: number
}

/** A delivery that arrives resets the count of its service. */
export function countDeadLetters(outcomes: readonly Outcome[]) {
  const ended = outcomes.flatMap(({ pending: { service }, verdict: { kind } }) =>
    service === null || kind === 'retry' ? [] : [{ id: service.id, is_delivered: kind === 'delivered' }],
  )
  return sql<CountedService>`
    with ended as (
      select id, bool_or(is_delivered) as is_delivered, count(*)::int as count
      from jsonb_to_recordset(${JSON.stringify(ended)}::jsonb) as e (id uuid, is_delivered boolean) group by id
    ), locked as (
      select s.id from notification_services s join ended e on e.id = s.id
      where not e.is_delivered or s.dead_letters_in_a_row > 0 order by s.id for update of s
    )
    update notification_services s
    set dead_letters_in_a_row = case when e.is_delivered then 0 else s.dead_letters_in_a_row + e.count end
    from ended e where s.id = e.id and s.id in (select id from locked)
    returning s.id, s.organization_id, s.description, s.provider, s.dead_letters_in_a_row as count`
}

export async function disableBroken(
  trx: Trx,
  counted: readonly CountedService[],
  outcomes: readonly Outcome[],
  now: string,
): Promise<void> {
  for (const { id, organization_id: orgId, description, provider, count } of counted) {
    if (count < mostDeadLetters) continue
    const failed = outcomes.findLast(
      ({ pending, result }) => pending.service?.id === id && result.error !== null,
    )
    const reason = `${mostDeadLetters} deliveries in a row were given up. The last one: ${failed?.result.error ?? ''}`
    const { numUpdatedRows } = await trx
      .updateTable('notification_services')
      .set({ broken_at: now, broken_reason: reason })
      .where('id', '=', id)
      .where('broken_at', 'is', null)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) continue
    await discardPending(trx, orgId, id, now)
    await recordAudit(
      trx,
      { kind: 'system' },
      {
        organizationId: orgId,
        type: 'NOTIFICATION_SERVICE_BROKEN',
        subject: { type: 'NotificationService', uuid: id, name: description || provider },
        data: { reason },
      },
    )
  }
}

/** Attempts that are in flight end as they would have. */
export async function discardPending(trx: Trx, orgId: string, serviceId: string, now: string): Promise<void> {
  await sql`
    update notification_deliveries set state = 'discarded', finished_at = ${now}
    where organization_id = ${orgId} and service_id = ${serviceId} and owner_id = ${serviceId} and state = 'pending'`.execute(
    trx,
  )
}
