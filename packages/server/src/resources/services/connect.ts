// What comes of a person's having let us in at a site: a new service, or new credentials for the one that is connected to
// the same place already.
import { byCaller, recordAudit } from '../../audit/record.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { newId } from '../../lib/ids.ts'
import type { Grant } from '../../notifications/delivery/oauth.ts'
import { sealSecrets } from '../../notifications/delivery/open-service.ts'
import type { Connecting, Provider, Settings } from '../../notifications/provider.ts'
import { auditData, subjectOf } from './audit.ts'
import * as services from './queries.ts'
import { splitSecrets } from './rules.ts'

export async function connectService(
  ctx: Context,
  org: Organization,
  caller: Caller,
  provider: Provider & { connecting: Connecting },
  { place, grant }: { place: Settings; grant: Grant },
): Promise<services.ServiceRow> {
  const given = Object.entries({ ...place, ...grant }).filter(([, value]) => value !== null)
  const { plain, secrets } = splitSecrets(provider, Object.fromEntries(given))
  const kept = { settings: plain, ...sealSecrets(ctx.keys, secrets) }
  return inTransaction(ctx.db, async (trx) => {
    const before = await services.lockConnected(trx, org.id, provider.id, place)
    const id = before?.id ?? newId()
    if (before === undefined) {
      await services.insert(trx, {
        id,
        organization_id: org.id,
        provider: provider.id,
        is_connected: true,
        description: '',
        scope: 'all',
        branch_configuration: '',
        build_states: [...provider.connecting.buildStates],
        ...kept,
        listening_since: ctx.now().toISOString(),
        created_by: caller.user.id,
      })
    } else {
      await services.updateInOrg(trx, org.id, id, { ...kept, ...cleared(ctx, before) })
    }
    return written(trx, org, caller, id, before === undefined)
  })
}

/** One that was given up on for want of credentials begins anew; one that somebody disabled stays so. */
const cleared = (ctx: Context, { broken_at: broken }: services.ServiceRow) =>
  broken === null
    ? {}
    : {
        broken_at: null,
        broken_reason: null,
        dead_letters_in_a_row: 0 as const,
        listening_since: ctx.now().toISOString(),
      }

async function written(
  trx: Trx,
  org: Organization,
  caller: Caller,
  id: string,
  isNew: boolean,
): Promise<services.ServiceRow> {
  const service = await services.findInOrg(trx, org.id, id)
  if (service === undefined) throw new Error('A service vanished in the transaction that connected it.')
  await recordAudit(trx, byCaller(caller), {
    organizationId: org.id,
    type: isNew ? 'NOTIFICATION_SERVICE_CREATED' : 'NOTIFICATION_SERVICE_UPDATED',
    subject: subjectOf(service),
    data: isNew ? auditData(service) : { settings: 'the credentials of the provider' },
  })
  return service
}
