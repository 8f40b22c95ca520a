import { isDeepStrictEqual } from 'node:util'
import { byCaller, changedAttributes, recordAudit } from '../../../audit/record.ts'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { RequestContext } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { openSettings, sealSecrets } from '../../../notifications/delivery/open-service.ts'
import { providerOf, toShown, toStored } from '../../../notifications/providers/other-names.ts'
import { auditData, subjectOf } from './audit.ts'
import { sendPing } from './send-ping.ts'
import { presentService } from './present.ts'
import * as services from './queries.ts'
import {
  readChangedSettings,
  readStates,
  refuseAuditEvents,
  refuseOtherProvider,
  refuseUnknownKeys,
  splitSecrets,
} from './rules.ts'
import type { UpdateServiceBody } from './schema.ts'
import { readTargets } from './read-scope.ts'

export async function updateService(
  { ctx, org, caller }: RequestContext,
  id: string,
  body: UpdateServiceBody,
): Promise<services.ServiceRow> {
  return inTransaction(ctx.db, async (trx) => {
    const before = await services.getLocked(trx, org.id, id)
    const settingsBefore = openSettings(ctx.keys, before)
    refuseUnknownKeys(body, presentService(ctx.config.url, org, before, settingsBefore))
    const named = providerOf(before)
    refuseOtherProvider(named, body.provider)
    const shownBefore = { isConnected: before.is_connected, settings: toShown(named, settingsBefore) }
    const settings = toStored(named, readChangedSettings(org, named, shownBefore, body.settings))
    refuseAuditEvents(org, settingsBefore, settings)
    const { provider } = named
    const { plain, secrets } = splitSecrets(provider, settings)
    const isSame = isDeepStrictEqual(settings, settingsBefore)
    const targets = await readTargets(trx, org, caller, before, body)
    await services.updateInOrg(trx, org.id, id, {
      description: body.description === undefined ? before.description : (body.description ?? ''),
      branch_configuration:
        body.branch_configuration === undefined
          ? before.branch_configuration
          : (body.branch_configuration ?? ''),
      build_states: readStates(before.build_states, body.build_states),
      ...(targets === null ? {} : { scope: targets.scope }),
      ...(isSame ? {} : { settings: plain, ...sealSecrets(ctx.keys, secrets) }),
    })
    if (targets !== null) await services.replaceTargets(trx, org.id, id, targets.table, targets.ids)
    const after = await services.getInOrg(trx, org.id, id)
    await audit(trx, org, caller, before, after, isSame)
    if (!isSame && provider.isPinged) await sendPing(trx, ctx, org, caller, after)
    return after
  })
}

const attributes = [
  'description',
  'scope',
  'scope_uuids',
  'branch_configuration',
  'build_states',
  'settings',
] as const

/** The event does not contain replaced secrets. An update without changes has no event. */
async function audit(
  trx: Trx,
  org: Organization,
  caller: Caller,
  before: services.ServiceRow,
  after: services.ServiceRow,
  isSame: boolean,
): Promise<void> {
  const changed = changedAttributes(auditData(before), auditData(after), attributes)
  const data = isSame || 'settings' in changed ? changed : { ...changed, settings: 'a secret setting' }
  if (Object.keys(data).length === 0) return
  await recordAudit(trx, byCaller(caller), {
    organizationId: org.id,
    type: 'NOTIFICATION_SERVICE_UPDATED',
    subject: subjectOf(after),
    data,
  })
}
