// Puts the chunks of ended jobs together into one object each. The object is whole and durable before the
// transaction that points to it and deletes the chunks, so a worker may die anywhere and another begins anew.
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { announce, claim, release } from '../../blobs/unclaimed.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import * as logs from './queries.ts'
import { findLog } from './source.ts'

const mostAtOnce = 50

export async function compactLogs(ctx: Context): Promise<void> {
  for (const { job_id: jobId, organization_id: orgId } of await logs.listEnded(ctx.db, mostAtOnce)) {
    try {
      if (orgId === null) await inTransaction(ctx.db, (trx) => logs.deleteChunks(trx, jobId))
      else await compactLog(ctx, orgId, jobId)
    } catch (error) {
      ctx.log.error({ err: error, job_id: jobId }, 'A log could not be put together; it will be tried again.')
    }
  }
}

async function compactLog(ctx: Context, orgId: string, jobId: string): Promise<void> {
  if (!(await logs.claimCompaction(ctx.db, orgId, jobId))) return logs.deleteStrays(ctx.db, jobId)
  const chunks = (await logs.listChunks(ctx.db, jobId, -1)).length
  const log = await findLog(ctx, orgId, jobId)
  if (log === null) return
  const key = `logs/${orgId}/${jobId}/${randomUUID()}`
  await announce(ctx.db, key)
  await ctx.blobs.put(key, Readable.from(log.read(0, log.size)), log.size)
  await inTransaction(ctx.db, async (trx) => {
    if (!(await logs.finishCompaction(trx, jobId, key, log.size))) return release(trx, [key])
    if (!(await claim(trx, key))) throw new Error('The object took longer than it is kept unclaimed.')
    if ((await logs.deleteChunks(trx, jobId)) !== chunks)
      throw new Error('Chunks came while the log was put together.')
  })
}
