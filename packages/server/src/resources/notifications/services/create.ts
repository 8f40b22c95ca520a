import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { newId } from '../../../lib/ids.ts'
import { sealSecrets } from '../../../notifications/delivery/open-service.ts'
import { toStored } from '../../../notifications/providers/other-names.ts'
import { auditData, subjectOf } from './audit.ts'
import { sendPing } from './send-ping.ts'
import * as services from './queries.ts'
import {
  readNewSettings,
  readProvider,
  readStates,
  refuseAuditEvents,
  refuseUnknownKeys,
  splitSecrets,
} from './rules.ts'
import type { CreateServiceBody } from './schema.ts'
import { readTargets } from './read-scope.ts'

export async function createService(
  { ctx, org, caller }: RequestContext,
  body: CreateServiceBody,
): Promise<services.ServiceRow> {
  refuseUnknownKeys(body, null)
  const named = readProvider(org, body)
  const { name, provider } = named
  const settings = toStored(named, readNewSettings(org, named, body.settings))
  refuseAuditEvents(org, {}, settings)
  const { plain, secrets } = splitSecrets(provider, settings)
  const states = readStates([], body.build_states)
  return inTransaction(ctx.db, async (trx) => {
    const id = newId()
    const targets = await readTargets(trx, org, caller, { scope: 'all', scope_uuids: [] }, body)
    await services.insert(trx, {
      id,
      organization_id: org.id,
      provider: provider.id,
      ...(name === provider.id ? {} : { provider_name: name }),
      description: body.description ?? '',
      scope: targets?.scope ?? 'all',
      branch_configuration: body.branch_configuration ?? '',
      build_states: states,
      settings: plain,
      ...sealSecrets(ctx.keys, secrets),
      listening_since: ctx.now().toISOString(),
      created_by: caller.user.id,
    })
    if (targets !== null) await services.replaceTargets(trx, org.id, id, targets.table, targets.ids)
    const service = await services.getInOrg(trx, org.id, id)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'NOTIFICATION_SERVICE_CREATED',
      subject: subjectOf(service),
      data: auditData(service),
    })
    if (provider.isPinged) await sendPing(trx, ctx, org, caller, service)
    return service
  })
}
