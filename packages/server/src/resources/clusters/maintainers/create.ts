import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Context } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { validationFailed } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import * as clusters from '../clusters/queries.ts'
import * as maintainers from './queries.ts'
import { readActor, type Actor } from './rules.ts'
import type { CreateMaintainerBody } from './schema.ts'

export async function createMaintainer(
  ctx: Context,
  org: Organization,
  caller: Caller,
  clusterId: string,
  body: CreateMaintainerBody,
): Promise<maintainers.MaintainerRow> {
  const actor = readActor(body)
  return inTransaction(ctx.db, async (trx) => {
    await clusters.lockInOrg(trx, org.id, clusterId)
    return insertMaintainer(trx, org, caller, clusterId, actor)
  })
}

export async function insertMaintainer(
  trx: Trx,
  org: Organization,
  caller: Caller,
  clusterId: string,
  actor: Actor,
): Promise<maintainers.MaintainerRow> {
  const name = await maintainers.holdActor(trx, org, caller, actor)
  if (name === null) throw validationFailed(`no ${actor.kind} with the id ${actor.id} in this organization`)
  const id = newId()
  await maintainers.insert(trx, {
    id,
    organization_id: org.id,
    cluster_id: clusterId,
    actor: { ...actor, name },
  })
  await recordAudit(trx, byCaller(caller), {
    organizationId: org.id,
    type: 'CLUSTER_PERMISSION_CREATED',
    subject: { type: 'ClusterPermission', uuid: id, name },
    data: { cluster_id: clusterId, [`${actor.kind}_id`]: actor.id },
  })
  return maintainers.getInCluster(trx, org.id, clusterId, id)
}
