import { byCaller, recordAudit } from '../../audit/record.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { validationFailed } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { createMaintainer, readActor } from '../maintainers/create.ts'
import * as clusters from './queries.ts'
import { readFields } from './rules.ts'
import type { CreateClusterBody } from './schema.ts'

export async function createCluster(
  ctx: Context,
  org: Organization,
  caller: Caller,
  body: CreateClusterBody,
): Promise<clusters.ClusterRow> {
  if (body.hosted === true && ctx.hosted === null) {
    throw validationFailed(
      'this installation runs no hosted clusters; its operator turns them on with MILLRACE_HOSTED',
    )
  }
  const id = newId()
  return inTransaction(ctx.db, async (trx) => {
    const row = {
      id,
      organization_id: org.id,
      created_by: caller.user.id,
      hosted: body.hosted ?? false,
      name: body.name,
      description: '',
      emoji: null,
      color: null,
      ...readFields(body),
    }
    await clusters.insert(trx, row)
    const { name, description, emoji, color, hosted } = row
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'CLUSTER_CREATED',
      subject: { type: 'Cluster', uuid: id, name },
      data: { name, description, emoji, color, hosted },
    })
    for (const [index, maintainer] of (body.maintainers ?? []).entries()) {
      await createMaintainer(trx, org, caller, { id, name }, readActor(maintainer, `maintainers[${index}]`))
    }
    const cluster = await clusters.findInOrg(trx, org.id, id)
    if (cluster === undefined) throw new Error('A cluster vanished in the transaction that made it.')
    return cluster
  })
}
