import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { recordConnection } from './audited.ts'
import { renewProviders } from './providers.ts'
import * as connections from './queries.ts'

export async function deleteConnection({ ctx, org, caller }: RequestContext, id: string): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const connection = await connections.lockInOrg(trx, org.id, id)
    const { host } = connection
    await connections.deleteInOrg(trx, org.id, id)
    await renewProviders(trx, org.id, host)
    await recordConnection(trx, org, caller, 'SCM_REPOSITORY_HOST_DESTROYED', connection, {})
  })
}
