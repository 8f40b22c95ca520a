import { byCaller, changedAttributes, recordAudit } from '../../../audit/record.ts'
import type { Organization } from '../../../auth/caller.ts'
import { restartShares } from '../../../conductor/shares/share-key.ts'
import { wakeQueue, wakeQueueSettings } from '../../../conductor/dispatch/wake.ts'
import type { Context, RequestContext } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { defer } from '../../../db/batch.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { publishQueue } from '../../../events/queues.ts'
import { refused, validationFailed } from '../../../lib/errors.ts'
import * as queues from './queries.ts'
import { isBuiltHere, readFields } from './rules.ts'
import type { PauseDispatchBody, UpdateQueueBody } from './schema.ts'

const audited = [
  'description',
  'retry_agent_affinity',
  'instance_shape',
  'agent_image_ref',
  'fair_by',
  'fair_weights',
  'machine_limit_percent',
  'price_micros',
  'dispatch_paused_at',
  'dispatch_paused_note',
] as const

export const updateQueue = (
  { ctx, org, caller }: RequestContext,
  clusterId: string,
  queueId: string,
  body: UpdateQueueBody,
): Promise<queues.QueueRow> =>
  update({ ctx, org, caller }, clusterId, queueId, async (queue, trx) => {
    const fields = readFields(queue, body)
    await refuseForeignImage(trx, ctx, org, clusterId, fields.agent_image_ref ?? null)
    return fields
  })

/** An image that this installation built may only run in its own cluster. Container engines do not enforce that. */
async function refuseForeignImage(
  trx: Trx,
  { config }: Context,
  org: Organization,
  clusterId: string,
  ref: string | null,
): Promise<void> {
  if (ref === null || config.hosted === null || !isBuiltHere(config.hosted.registry, ref)) return
  if (await queues.holdImage(trx, org.id, clusterId, ref)) return
  throw validationFailed('Agent image ref is not the image_ref of a READY agent image of this cluster')
}

/** Agents keep the jobs they have, and get no others from this queue until it is resumed. */
export const pauseDispatch = (
  { ctx, org, caller }: RequestContext,
  clusterId: string,
  queueId: string,
  body: PauseDispatchBody,
): Promise<queues.QueueRow> =>
  update({ ctx, org, caller }, clusterId, queueId, (queue) => {
    if (queue.dispatch_paused_at !== null) throw refused('Cluster queue is already paused')
    return {
      dispatch_paused_at: ctx.now().toISOString(),
      dispatch_paused_by: caller.user.id,
      dispatch_paused_note: body.dispatch_paused_note || body.note || null,
    }
  })

export const resumeDispatch = (
  { ctx, org, caller }: RequestContext,
  clusterId: string,
  queueId: string,
): Promise<queues.QueueRow> =>
  update({ ctx, org, caller }, clusterId, queueId, (queue) => {
    if (queue.dispatch_paused_at === null) throw refused('Cluster queue is not paused')
    return { dispatch_paused_at: null, dispatch_paused_by: null, dispatch_paused_note: null }
  })

type Change = Partial<queues.QueueFields & queues.FairFields & queues.DispatchFields>

/** `decide` runs while the queue is locked, so one of two simultaneous pauses is refused. */
async function update(
  { ctx, org, caller }: RequestContext,
  clusterId: string,
  queueId: string,
  decide: (queue: queues.QueueRow, trx: Trx) => Change | Promise<Change>,
): Promise<queues.QueueRow> {
  return inTransaction(ctx.db, async (trx) => {
    const before = await queues.lockInCluster(trx, org.id, clusterId, queueId)
    await queues.updateInCluster(trx, org.id, clusterId, queueId, await decide(before, trx))
    const after = await queues.getInCluster(trx, org.id, clusterId, queueId)
    if (before.fair_by !== after.fair_by) {
      await restartShares(trx, org.id, queueId)
      await wakeQueueSettings(trx, after.id)
    }
    if (before.dispatch_paused_at !== null && after.dispatch_paused_at === null)
      await wakeQueue(trx, after.id)
    if ((before.dispatch_paused_at === null) !== (after.dispatch_paused_at === null))
      await defer(trx, [publishQueue(org.id, after.id, ctx.now().toISOString())])
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'CLUSTER_QUEUE_UPDATED',
      subject: { type: 'ClusterQueue', uuid: after.id, name: after.key },
      data: changedAttributes(before, after, audited),
    })
    return after
  })
}
