import { byCaller, changedAttributes, recordAudit } from '../../audit/record.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import { wakeQueue } from '../../conductor/wake.ts'
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound, refused, validationFailed } from '../../lib/errors.ts'
import * as images from '../agent-images/queries.ts'
import { isBuiltHere } from '../agent-images/rules.ts'
import * as queues from './queries.ts'
import { readChange } from './rules.ts'
import type { PauseDispatchBody, UpdateQueueBody } from './schema.ts'

const audited = [
  'description',
  'retry_agent_affinity',
  'instance_shape',
  'agent_image_ref',
  'dispatch_paused_at',
  'dispatch_paused_note',
] as const

export const updateQueue = (
  ctx: Context,
  org: Organization,
  caller: Caller,
  place: { cluster: string; queue: string },
  body: UpdateQueueBody,
): Promise<queues.QueueRow> =>
  change(ctx, org, caller, place, async (queue, trx) => {
    const fields = readChange(queue, body)
    await refuseForeignImage(trx, ctx, org, place.cluster, fields.agent_image_ref ?? null)
    return fields
  })

/** Images that were built here are for the cluster they were built for; engines know no such bounds. */
async function refuseForeignImage(
  trx: Trx,
  { config }: Context,
  org: Organization,
  clusterId: string,
  ref: string | null,
): Promise<void> {
  if (ref === null || config.hosted === null || !isBuiltHere(config.hosted.registry, ref)) return
  if (await images.holdReady(trx, org.id, clusterId, ref)) return
  throw validationFailed('Agent image ref is not the image_ref of a READY agent image of this cluster')
}

/** Jobs already with an agent go on; no other leaves the queue until it is resumed. */
export const pauseDispatch = (
  ctx: Context,
  org: Organization,
  caller: Caller,
  place: { cluster: string; queue: string },
  body: PauseDispatchBody,
): Promise<queues.QueueRow> =>
  change(ctx, org, caller, place, (queue) => {
    if (queue.dispatch_paused_at !== null) throw refused('Cluster queue is already paused')
    return {
      dispatch_paused_at: ctx.now().toISOString(),
      dispatch_paused_by: caller.user.id,
      dispatch_paused_note: body.dispatch_paused_note || body.note || null,
    }
  })

export const resumeDispatch = (
  ctx: Context,
  org: Organization,
  caller: Caller,
  place: { cluster: string; queue: string },
): Promise<queues.QueueRow> =>
  change(ctx, org, caller, place, (queue) => {
    if (queue.dispatch_paused_at === null) throw refused('Cluster queue is not paused')
    return { dispatch_paused_at: null, dispatch_paused_by: null, dispatch_paused_note: null }
  })

type Change = Partial<queues.QueueFields & queues.DispatchFields>

/** `decide` sees the queue behind a lock, so of two that exclude each other one is refused. */
async function change(
  ctx: Context,
  org: Organization,
  caller: Caller,
  place: { cluster: string; queue: string },
  decide: (queue: queues.QueueRow, trx: Trx) => Change | Promise<Change>,
): Promise<queues.QueueRow> {
  return inTransaction(ctx.db, async (trx) => {
    const before = await queues.lockInCluster(trx, org.id, place.cluster, place.queue)
    if (before === undefined) throw notFound('No queue found')
    await queues.updateInCluster(trx, org.id, place.cluster, place.queue, await decide(before, trx))
    const after = await queues.findInCluster(trx, org.id, place.cluster, place.queue)
    if (after === undefined) throw new Error('A queue vanished while it was locked.')
    if (before.dispatch_paused_at !== null && after.dispatch_paused_at === null)
      await wakeQueue(trx, after.id)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'CLUSTER_QUEUE_UPDATED',
      subject: { type: 'ClusterQueue', uuid: after.id, name: after.key },
      data: changedAttributes(before, after, audited),
    })
    return after
  })
}
