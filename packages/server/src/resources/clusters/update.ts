import { byCaller, changedAttributes, recordAudit } from '../../audit/record.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import { adoptJobs } from '../../conductor/adopt-jobs.ts'
import type { Context } from '../../context.ts'
import type { Db } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { toApiError } from '../../hosted/api-error.ts'
import { isUuid } from '../../lib/ids.ts'
import { notFound, unavailable, validationFailed } from '../../lib/errors.ts'
import * as queues from '../queues/queries.ts'
import * as clusters from './queries.ts'
import { changedSwitches, readFields, switchNames, type CacheSwitches, type SwitchName } from './rules.ts'
import type { UpdateClusterBody } from './schema.ts'

const audited = [
  'name',
  'description',
  'emoji',
  'color',
  'default_queue_id',
  'hosted_git_mirror_enabled',
  'hosted_container_cache_enabled',
] as const

export async function updateCluster(
  ctx: Context,
  org: Organization,
  caller: Caller,
  clusterId: string,
  body: UpdateClusterBody,
): Promise<clusters.ClusterRow> {
  const before = await clusters.findInOrg(ctx.db, org.id, clusterId)
  if (before === undefined) throw notFound('No cluster found')
  await readDefaultQueue(ctx.db, org, clusterId, body.default_queue_id)
  const switches = changedSwitches(before, body)

  // The driver is asked first and outside any transaction: when it refuses, nothing has been written.
  const applied: Array<[SwitchName, boolean]> = []
  try {
    for (const name of switchNames) {
      const isOn = switches[name]
      if (isOn === undefined) continue
      await applySwitch(ctx, clusterId, name, isOn)
      applied.push([name, isOn])
    }
    return await write(ctx, org, caller, clusterId, body, switches)
  } catch (error) {
    for (const [name, isOn] of applied) await undoSwitch(ctx, clusterId, name, !isOn)
    throw error
  }
}

async function write(
  ctx: Context,
  org: Organization,
  caller: Caller,
  clusterId: string,
  body: UpdateClusterBody,
  switches: Partial<CacheSwitches>,
): Promise<clusters.ClusterRow> {
  return inTransaction(ctx.db, async (trx) => {
    const locked = await clusters.lockInOrg(trx, org.id, clusterId)
    const before = locked && (await clusters.findInOrg(trx, org.id, clusterId))
    if (before === undefined) throw notFound('No cluster found')
    // Read again behind the lock: until then the queue could be deleted.
    const defaultQueue = await readDefaultQueue(trx, org, clusterId, body.default_queue_id)
    if (defaultQueue.default_queue_id) {
      await adoptJobs(trx, org.id, clusterId, { id: defaultQueue.default_queue_id, key: '', isDefault: true })
    }
    await clusters.updateInOrg(trx, org.id, clusterId, { ...readFields(body), ...defaultQueue, ...switches })
    const after = await clusters.findInOrg(trx, org.id, clusterId)
    if (after === undefined) throw new Error('A cluster vanished while it was locked.')
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

async function applySwitch(ctx: Context, clusterId: string, name: SwitchName, isOn: boolean): Promise<void> {
  if (ctx.hosted === null) throw unavailable('The hosted-agent service is not running. Asking again is safe.')
  try {
    if (name === 'hosted_git_mirror_enabled') await ctx.hosted.setGitMirror(clusterId, isOn)
    else await ctx.hosted.setContainerCache(clusterId, isOn)
  } catch (error) {
    throw toApiError(error, 'The hosted-agent service could not apply the change. Asking again is safe.')
  }
}

async function undoSwitch(ctx: Context, clusterId: string, name: SwitchName, isOn: boolean): Promise<void> {
  try {
    await applySwitch(ctx, clusterId, name, isOn)
  } catch (error) {
    ctx.log.error(
      { err: error, cluster_id: clusterId },
      'A hosted cluster keeps a switch that was not recorded.',
    )
  }
}
