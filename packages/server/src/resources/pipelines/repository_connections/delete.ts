import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { providerOf } from '../../../source-hosts/settings.ts'
import { recordConnection } from './audited.ts'
import * as connections from './queries.ts'

export async function deleteConnection({ ctx, org, caller }: RequestContext, id: string): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const connection = await connections.lockInOrg(trx, org.id, id)
    const { host } = connection
    await connections.deleteInOrg(trx, org.id, id)
    await connections.updateProvider(trx, org.id, host, providerOf(`https://${host}/`))
    await recordConnection(trx, org, caller, 'SCM_REPOSITORY_HOST_DESTROYED', connection, {})
  })
}
