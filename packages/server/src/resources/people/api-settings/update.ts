import { byCaller, changedAttributes, recordAudit, type Origin } from '../../../audit/record.ts'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Db } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound } from '../../../lib/errors.ts'
import * as apiSettings from './queries.ts'
import { readAllowed, refuseLockout } from './rules.ts'
import type { UpdateApiSettingsBody } from './schema.ts'

/** The new ranges apply from the commit on. Ranges without the caller's own address need `force`. */
export async function updateApiSettings(
  db: Db,
  org: Organization,
  caller: Caller,
  body: UpdateApiSettingsBody,
): Promise<apiSettings.ApiSettingsRow> {
  const { allowed_ip_addresses: allowed, revoke_inactive_tokens_after_days: days } = body
  const wantedRanges = allowed === undefined ? undefined : readAllowed(allowed)
  if (wantedRanges && !body.force) refuseLockout(wantedRanges, caller.request.ip)
  return inTransaction(db, async (trx) => {
    const before = await apiSettings.lockOfOrg(trx, org.id)
    const after = {
      allowed_ip_addresses: wantedRanges === undefined ? before.allowed_ip_addresses : wantedRanges,
      revoke_inactive_tokens_after_days: days === undefined ? before.revoke_inactive_tokens_after_days : days,
      restrict_user_api_token_creation:
        body.restrict_user_api_token_creation ?? before.restrict_user_api_token_creation,
    }
    const changes = changedAttributes(before, after, apiSettings.columns)
    if (Object.keys(changes).length === 0) return before
    await apiSettings.updateOfOrg(trx, org.id, after)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'ORGANIZATION_SECURITY_SETTINGS_UPDATED',
      subject: { type: 'Organization', uuid: org.id, name: org.name },
      data: changes,
    })
    return after
  })
}

/** For the operator, who needs no allowed address. Returns the ranges as stored; null allows any address. */
export async function updateAllowedRanges(
  db: Db,
  origin: Origin,
  slug: string,
  ranges: string | null,
): Promise<string | null> {
  const allowed_ip_addresses = readAllowed(ranges)
  return inTransaction(db, async (trx) => {
    const org = await trx
      .selectFrom('organizations')
      .select(['id', 'name'])
      .where('slug', '=', slug)
      .executeTakeFirst()
    if (org === undefined) throw notFound(`There is no organization "${slug}".`)
    const before = await apiSettings.lockOfOrg(trx, org.id)
    await apiSettings.updateOfOrg(trx, org.id, { ...before, allowed_ip_addresses })
    await recordAudit(trx, origin, {
      organizationId: org.id,
      type: 'ORGANIZATION_SECURITY_SETTINGS_UPDATED',
      subject: { type: 'Organization', uuid: org.id, name: org.name },
      data: changedAttributes(before, { ...before, allowed_ip_addresses }, ['allowed_ip_addresses']),
    })
    return allowed_ip_addresses
  })
}
