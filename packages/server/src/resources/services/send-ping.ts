import type { Caller, Organization } from '../../auth/caller.ts'
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { newId } from '../../lib/ids.ts'
import { enqueue, newPing } from '../../notifications/outbox/enqueue.ts'
import { presentOrganization } from '../organizations/present.ts'
import type { ServiceRow } from './queries.ts'

/** Says hello, with the change that gives the reason; returns the id of the delivery. */
export async function pingService(
  trx: Trx,
  ctx: Context,
  org: Organization,
  { user }: Caller,
  service: ServiceRow,
): Promise<string> {
  const id = newId()
  const now = ctx.now()
  const message = newPing(presentOrganization(ctx.config.url, org), { id: user.id, name: user.name }, now)
  await enqueue(trx, [{ id, message, organizationId: org.id, serviceId: service.id, lane: 'ping' }], now)
  return id
}
