import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { insertMaintainer, readActor } from '../clusters/maintainers.ts'
import * as clusters from '../clusters/queries.ts'
import * as maintainers from './queries.ts'
import type { CreateMaintainerBody } from './schema.ts'

export async function createMaintainer(
  { ctx, org, caller }: RequestContext,
  clusterId: string,
  body: CreateMaintainerBody,
): Promise<maintainers.MaintainerRow> {
  const actor = readActor(body)
  return inTransaction(ctx.db, async (trx) => {
    await clusters.lockInOrg(trx, org.id, clusterId)
    const id = await insertMaintainer(trx, org, caller, clusterId, actor)
    return maintainers.getInCluster(trx, org.id, clusterId, id)
  })
}
