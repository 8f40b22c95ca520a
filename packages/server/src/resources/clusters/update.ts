import { byCaller, changedAttributes, recordAudit } from '../../audit/record.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import { adoptJobs } from '../../conductor/adopt-jobs.ts'
import type { Context } from '../../context.ts'
import type { Db } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { toApiError } from '../../hosted/api-error.ts'
import { unavailable, validationFailed } from '../../lib/errors.ts'
import { isUuid } from '../../lib/ids.ts'
import * as queues from '../queues/queries.ts'
import * as clusters from './queries.ts'
import {
  cacheFieldNames,
  readCacheFields,
  readFields,
  type CacheFieldName,
  type CacheFields,
} from './rules.ts'
import type { UpdateClusterBody } from './schema.ts'

const audited = ['name', 'description', 'emoji', 'color', 'default_queue_id', ...cacheFieldNames] as const

/** The hosted-agent service applies changed cache fields first. If it refuses, no row is written. */
export async function updateCluster(
  ctx: Context,
  org: Organization,
  caller: Caller,
  clusterId: string,
  body: UpdateClusterBody,
): Promise<clusters.ClusterRow> {
  const before = await clusters.getInOrg(ctx.db, org.id, clusterId)
  await readDefaultQueue(ctx.db, org, clusterId, body.default_queue_id)
  const cacheFields = readCacheFields(before, body)
  const applied: Array<[CacheFieldName, boolean]> = []
  try {
    for (const name of cacheFieldNames) {
      const isOn = cacheFields[name]
      if (isOn === undefined) continue
      await applyCacheField(ctx, clusterId, name, isOn)
      applied.push([name, isOn])
    }
    return await updateRow(ctx, org, caller, clusterId, body, cacheFields)
  } catch (error) {
    for (const [name, isOn] of applied) await undoCacheField(ctx, clusterId, name, !isOn)
    throw error
  }
}

async function updateRow(
  ctx: Context,
  org: Organization,
  caller: Caller,
  clusterId: string,
  body: UpdateClusterBody,
  cacheFields: Partial<CacheFields>,
): Promise<clusters.ClusterRow> {
  return inTransaction(ctx.db, async (trx) => {
    await clusters.lockInOrg(trx, org.id, clusterId)
    const before = await clusters.getInOrg(trx, org.id, clusterId)
    // The queue may have been deleted before the cluster was locked, so check it again.
    const defaultQueue = await readDefaultQueue(trx, org, clusterId, body.default_queue_id)
    if (defaultQueue.default_queue_id) {
      await adoptJobs(trx, org.id, clusterId, { id: defaultQueue.default_queue_id, key: '', isDefault: true })
    }
    await clusters.updateInOrg(trx, org.id, clusterId, {
      ...readFields(body),
      ...defaultQueue,
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
}

async function readDefaultQueue(
  db: Db,
  org: Organization,
  clusterId: string,
  wanted: string | null | undefined,
): Promise<{ default_queue_id?: string | null }> {
  if (wanted === undefined) return {}
  if (wanted === null || wanted === '') return { default_queue_id: null }
  if (!isUuid(wanted) || (await queues.findInCluster(db, org.id, clusterId, wanted)) === undefined) {
    throw validationFailed('default_queue_id must be the id of one of the cluster’s queues')
  }
  return { default_queue_id: wanted }
}

async function applyCacheField(
  ctx: Context,
  clusterId: string,
  name: CacheFieldName,
  isOn: boolean,
): Promise<void> {
  if (ctx.hosted === null) throw unavailable('The hosted-agent service is not running. Asking again is safe.')
  try {
    if (name === 'hosted_git_mirror_enabled') await ctx.hosted.setGitMirror(clusterId, isOn)
    else await ctx.hosted.setContainerCache(clusterId, isOn)
  } catch (error) {
    throw toApiError(error, 'The hosted-agent service could not apply the change. Asking again is safe.')
  }
}

async function undoCacheField(
  ctx: Context,
  clusterId: string,
  name: CacheFieldName,
  isOn: boolean,
): Promise<void> {
  try {
    await applyCacheField(ctx, clusterId, name, isOn)
  } catch (error) {
    ctx.log.error(
      { err: error, cluster_id: clusterId, field: name },
      'The hosted-agent service kept a change that was not saved.',
    )
  }
}
