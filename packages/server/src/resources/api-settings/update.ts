import { byCaller, changedAttributes, recordAudit } from '../../audit/record.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { Db } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { validationFailed } from '../../lib/errors.ts'
import { isInRanges, readRanges } from '../../lib/ip-ranges.ts'
import * as apiSettings from './queries.ts'
import type { UpdateApiSettingsBody } from './schema.ts'

// Every request of the organization is compared with every range.
const mostRanges = 100

/** An allow list counts from the commit on, also for the caller, who is locked out by it only on purpose. */
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

function refuseLockout(ranges: string, ip: string): void {
  if (isInRanges(ip, ranges)) return
  throw validationFailed(
    `allowed_ip_addresses lacks your own address ${ip}, so you would be locked out; send "force": true to do it all the same`,
  )
}

/** An empty list is none. */
export function readAllowed(text: string | null): string | null {
  const read = readRanges(text ?? '')
  if (!read.ok) {
    throw validationFailed(
      `allowed_ip_addresses has "${read.bad.slice(0, 60)}", which is not an address range such as 192.0.2.0/24`,
    )
  }
  if (read.ranges.split(' ').length > mostRanges) {
    throw validationFailed(`allowed_ip_addresses must have at most ${mostRanges} ranges`)
  }
  return read.ranges || null
}
