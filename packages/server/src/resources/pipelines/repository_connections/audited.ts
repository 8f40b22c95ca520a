import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { AuditType } from '../../../audit/types.ts'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Trx } from '../../../db/pool.ts'

export const audited = [
  'type',
  'url',
  'api_url',
  'host',
  'app_id',
  'installation_id',
  'checkout_enabled',
] as const

export async function recordConnection(
  trx: Trx,
  org: Organization,
  caller: Caller,
  type: AuditType,
  { id, host }: { id: string; host: string },
  data: Record<string, unknown>,
): Promise<void> {
  await recordAudit(trx, byCaller(caller), {
    organizationId: org.id,
    type,
    subject: { type: 'ScmRepositoryHost', uuid: id, name: host },
    data,
  })
}
