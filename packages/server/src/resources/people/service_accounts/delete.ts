import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import * as organizations from '../organizations/queries.ts'
import * as accounts from './queries.ts'

export async function deleteServiceAccount({ ctx, org, caller }: RequestContext, id: string): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    await organizations.lock(trx, org.id)
    const account = await accounts.lockInOrg(trx, org.id, id)
    await accounts.deleteInOrg(trx, org.id, id)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'SERVICE_ACCOUNT_DELETED',
      subject: { type: 'ServiceAccount', uuid: id, name: account.name },
    })
  })
}
