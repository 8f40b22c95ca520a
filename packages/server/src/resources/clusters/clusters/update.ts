import { byCaller, changedAttributes, recordAudit } from '../../../audit/record.ts'
import type { Organization } from '../../../auth/caller.ts'
import { adoptJobs } from '../../../conductor/dispatch/adopt-jobs.ts'
import type { RequestContext } from '../../../context.ts'
import type { Db } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { validationFailed } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/ids.ts'
import { applyCaches } from './caches.ts'
import * as clusters from './queries.ts'
import { cacheFieldNames, readCacheFields, readFields } from './rules.ts'
import type { UpdateClusterBody } from './schema.ts'

const audited = ['name', 'description', 'emoji', 'color', 'default_queue_id', ...cacheFieldNames] as const

export async function updateCluster(
  { ctx, org, caller }: RequestContext,
  clusterId: string,
  body: UpdateClusterBody,
): Promise<clusters.ClusterRow> {
  const cluster = await clusters.getInOrg(ctx.db, org.id, clusterId)
  // Refuse a wrong queue before the hosted-agent service is called.
  await readDefaultQueue(ctx.db, org, clusterId, body.default_queue_id)
  const cacheFields = readCacheFields(cluster, body)
  const save = () =>
    inTransaction(ctx.db, async (trx) => {
      await clusters.lockInOrg(trx, org.id, clusterId)
      const before = await clusters.getInOrg(trx, org.id, clusterId)
      // The queue may have been deleted before the cluster was locked.
      const defaultQueueId = await readDefaultQueue(trx, org, clusterId, body.default_queue_id)
      if (defaultQueueId) {
        await adoptJobs(trx, org.id, clusterId, { id: defaultQueueId, key: '', isDefault: true })
      }
      await clusters.updateInOrg(trx, org.id, clusterId, {
        ...readFields(body),
        ...(defaultQueueId === undefined ? {} : { default_queue_id: defaultQueueId }),
        ...cacheFields,
      })
      const after = await clusters.getInOrg(trx, org.id, clusterId)
      await recordAudit(trx, byCaller(caller), {
        organizationId: org.id,
        type: 'CLUSTER_UPDATED',
        subject: { type: 'Cluster', uuid: clusterId, name: after.name },
        data: changedAttributes(before, after, audited),
      })
      return after
    })
  return applyCaches(ctx, clusterId, cacheFields, save)
}

/** Undefined: the body does not name one. Null: the cluster shall have none. */
async function readDefaultQueue(
  db: Db,
  org: Organization,
  clusterId: string,
  wanted: string | null | undefined,
): Promise<string | null | undefined> {
  if (!wanted) return wanted === undefined ? undefined : null
  if (!isUuid(wanted) || !(await clusters.hasQueue(db, org.id, clusterId, wanted))) {
    throw validationFailed('default_queue_id must be the id of one of the cluster’s queues')
  }
  return wanted
}
