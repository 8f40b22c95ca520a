// Writes the chunks of an ended job into one object, and its rows into another. Both are complete and durable before the
// transaction that points to them and deletes the chunks, so a worker may die at any point and another starts over.
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { announce, claim, release } from '../../blobs/unclaimed.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { Semaphore } from '../../lib/semaphore.ts'
import { enqueueAll } from '../../tasks/enqueue.ts'
import type { Kinds } from '../../tasks/kinds.ts'
import { deleteCheckpoints } from './checkpoint-queries.ts'
import * as logs from './queries.ts'
import { writeRows } from './rows-object.ts'
import { findLog } from './source.ts'

const mostAtOnce = 100
/** The rows of a log are held in memory until their size is known. */
const writers = new Semaphore(1)

/** A poller finds the logs, since a further statement at the end of every job would slow down all jobs. */
export async function enqueueCompactions(ctx: Context): Promise<void> {
  const ended = await logs.listEnded(ctx.db, mostAtOnce)
  await enqueueAll(
    ctx.db,
    'compact_log',
    ended.map((payload) => ({ payload, key: payload.job_id })),
  )
}

export async function compactLog(
  ctx: Context,
  { job_id: jobId, organization_id: orgId }: Kinds['compact_log'],
): Promise<void> {
  if (orgId === null) {
    await inTransaction(ctx.db, (trx) => logs.deleteChunks(trx, jobId))
    return
  }
  if (!(await logs.claimCompaction(ctx.db, orgId, jobId))) return logs.deleteStrays(ctx.db, jobId)
  const chunks = (await logs.listChunks(ctx.db, jobId, -1)).length
  const log = await findLog(ctx, orgId, jobId)
  if (log === null) return
  const key = `logs/${orgId}/${jobId}/${randomUUID()}`
  await announce(ctx.db, key)
  await ctx.blobs.put(key, Readable.from(log.read(0, log.size)), log.size)
  const rows = await writers.run(() => writeRows(ctx, orgId, jobId, log))
  const keys = [key, rows.key]
  await inTransaction(ctx.db, async (trx) => {
    if (!(await logs.finishCompaction(trx, jobId, { key, size: log.size, rows }))) return release(trx, keys)
    for (const stored of keys) {
      if (!(await claim(trx, stored)))
        throw new Error('The objects took longer to write than unclaimed objects are kept.')
    }
    await deleteCheckpoints(trx, jobId)
    if ((await logs.deleteChunks(trx, jobId)) !== chunks)
      throw new Error('Chunks arrived while the log was compacted.')
  })
}
