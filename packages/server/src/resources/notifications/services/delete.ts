import { byCaller, recordAudit } from '../../../audit/record.ts'
import { isOAuthProvider } from '../../../config/outbound.ts'
import type { Context, RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { refused } from '../../../lib/errors.ts'
import { OutboundError } from '../../../lib/outbound.ts'
import { revokeToken, siteOf } from '../../../notifications/delivery/oauth.ts'
import { openSettings } from '../../../notifications/delivery/open-service.ts'
import { DeliveryFailed } from '../../../notifications/provider.ts'
import { subjectOf } from './audit.ts'
import * as services from './queries.ts'

/** Deletes its pending deliveries too. */
export async function deleteService({ ctx, org, caller }: RequestContext, id: string): Promise<void> {
  const service = await services.getInOrg(ctx.db, org.id, id)
  // Revokes the tokens first and outside any transaction: when the site refuses, the service stays.
  await disconnect(ctx, service)
  await inTransaction(ctx.db, async (trx) => {
    const locked = await services.getLocked(trx, org.id, id)
    await services.deleteInOrg(trx, org.id, id)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'NOTIFICATION_SERVICE_DELETED',
      subject: subjectOf(locked),
    })
  })
}

/** Revokes the tokens at the site, unless another service uses them. */
async function disconnect(ctx: Context, row: services.ServiceRow): Promise<void> {
  const site = isOAuthProvider(row.provider) ? siteOf(ctx.config, row.provider) : null
  if (site === null || (await services.hasOthersOfWorkspace(ctx.db, row))) return
  const { access_token: access, refresh_token: refresh } = openSettings(ctx.keys, row)
  try {
    for (const token of [access, refresh]) {
      if (typeof token === 'string') await revokeToken(site, ctx.outbound.send, token)
    }
  } catch (error) {
    if (!(error instanceof DeliveryFailed) && !(error instanceof OutboundError)) throw error
    throw refused(`The provider’s configuration could not be removed: ${error.message} Asking again is safe.`)
  }
}
