// Stores the result of an OAuth authorization: a new service, or new credentials for the service that is already connected to
// the same channel or team.
import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { Context, RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { newId } from '../../../lib/ids.ts'
import type { Grant } from '../../../notifications/delivery/oauth.ts'
import { sealSecrets } from '../../../notifications/delivery/open-service.ts'
import type { Connecting, Provider, Settings } from '../../../notifications/provider.ts'
import { auditData, subjectOf } from './audit.ts'
import * as services from './queries.ts'
import { splitSecrets } from './rules.ts'

export async function connectService(
  { ctx, org, caller }: RequestContext,
  provider: Provider & { connecting: Connecting },
  { settings, grant }: { settings: Settings; grant: Grant },
): Promise<services.ServiceRow> {
  const given = Object.entries({ ...settings, ...grant }).filter(([, value]) => value !== null)
  const { plain, secrets } = splitSecrets(provider, Object.fromEntries(given))
  const stored = { settings: plain, ...sealSecrets(ctx.keys, secrets) }
  return inTransaction(ctx.db, async (trx) => {
    const before = await services.lockConnected(trx, org.id, provider.id, settings)
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
        ...stored,
        listening_since: ctx.now().toISOString(),
        created_by: caller.user.id,
      })
    } else {
      await services.updateInOrg(trx, org.id, id, { ...stored, ...repaired(ctx, before) })
    }
    const service = await services.getInOrg(trx, org.id, id)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      subject: subjectOf(service),
      ...(before === undefined
        ? { type: 'NOTIFICATION_SERVICE_CREATED', data: auditData(service) }
        : { type: 'NOTIFICATION_SERVICE_UPDATED', data: { settings: 'the credentials of the provider' } }),
    })
    return service
  })
}

/** A broken service works again with the new credentials; a disabled one stays disabled. */
const repaired = (ctx: Context, { broken_at: broken }: services.ServiceRow) =>
  broken === null
    ? {}
    : {
        broken_at: null,
        broken_reason: null,
        dead_letters_in_a_row: 0 as const,
        listening_since: ctx.now().toISOString(),
      }
