import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { validationFailed } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { insertMaintainer, readActor } from './maintainers.ts'
import * as clusters from './queries.ts'
import { readFields } from './rules.ts'
import type { CreateClusterBody } from './schema.ts'

export async function createCluster(
  { ctx, org, caller }: RequestContext,
  body: CreateClusterBody,
): Promise<clusters.ClusterRow> {
  if (body.hosted === true && ctx.hosted === null) {
    throw validationFailed(
      'this installation runs no hosted clusters; its operator turns them on with MILLRACE_HOSTED',
    )
  }
  const id = newId()
  const fields = {
    name: body.name,
    description: '',
    emoji: null,
    color: null,
    hosted: body.hosted ?? false,
    ...readFields(body),
  }
  return inTransaction(ctx.db, async (trx) => {
    await clusters.insert(trx, { id, organization_id: org.id, created_by: caller.user.id, ...fields })
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'CLUSTER_CREATED',
      subject: { type: 'Cluster', uuid: id, name: fields.name },
      data: fields,
    })
    for (const [index, maintainer] of (body.maintainers ?? []).entries()) {
      await insertMaintainer(trx, org, caller, id, readActor(maintainer, `maintainers[${index}]`))
    }
    return clusters.getInOrg(trx, org.id, id)
  })
}
