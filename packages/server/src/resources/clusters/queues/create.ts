import { byCaller, recordAudit } from '../../../audit/record.ts'
import { adoptJobs } from '../../../conductor/dispatch/adopt-jobs.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { validationFailed } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import * as clusters from '../clusters/queries.ts'
import * as queues from './queries.ts'
import { mostQueues, toMicros } from './rules.ts'
import type { CreateQueueBody } from './schema.ts'

export async function createQueue(
  { ctx, org, caller }: RequestContext,
  clusterId: string,
  body: CreateQueueBody,
): Promise<queues.QueueRow> {
  const id = newId()
  const fields = {
    key: body.key,
    description: body.description || null,
    retry_agent_affinity: body.retry_agent_affinity ?? 'prefer-warmest',
    price_micros: toMicros(body.price_per_minute ?? 0),
    instance_shape: body.hostedAgents?.instanceShape ?? null,
  }
  return inTransaction(ctx.db, async (trx) => {
    // While the cluster is locked, the count below stays true.
    const cluster = await clusters.lockInOrg(trx, org.id, clusterId)
    if (fields.instance_shape !== null && !cluster.hosted) {
      throw validationFailed('hostedAgents can only be set in a hosted cluster')
    }
    if ((await queues.countInCluster(trx, org.id, clusterId)) >= mostQueues) {
      throw validationFailed(`a cluster has at most ${mostQueues} queues`)
    }
    const row = { id, organization_id: org.id, cluster_id: clusterId, created_by: caller.user.id, ...fields }
    await queues.insert(trx, row)
    await adoptJobs(trx, org.id, clusterId, { id, key: fields.key, isDefault: false })
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'CLUSTER_QUEUE_CREATED',
      subject: { type: 'ClusterQueue', uuid: id, name: fields.key },
      data: { cluster_id: clusterId, ...fields },
    })
    return queues.getInCluster(trx, org.id, clusterId, id)
  })
}
