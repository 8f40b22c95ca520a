import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Context } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { newId } from '../../../lib/ids.ts'
import { insertDeliveries, insertMessages, newPing } from '../../../notifications/outbox/enqueue.ts'
import { presentOrganization } from '../../people/organizations/present.ts'
import type { ServiceRow } from './queries.ts'

/** In the transaction that creates or updates the service. Returns the id of the delivery. */
export async function sendPing(
  trx: Trx,
  ctx: Context,
  org: Organization,
  { user }: Caller,
  service: ServiceRow,
): Promise<string> {
  const id = newId()
  const now = ctx.now()
  const message = newPing(presentOrganization(ctx.config.url, org), { id: user.id, name: user.name }, now)
  const ping = { id, message, organizationId: org.id, eventId: null, serviceId: service.id, queue: 'ping' }
  await insertMessages(trx, [ping])
  await insertDeliveries(trx, [ping], now)
  return id
}
