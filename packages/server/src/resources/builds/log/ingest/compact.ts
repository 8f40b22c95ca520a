// Writes the chunks of an ended job into one object, and its rows into another. Both are complete and durable before the
// transaction that points to them and deletes the chunks, so a worker may die at any point and another starts over.
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { sql } from 'kysely'
import { announce, claim, release } from '../../../../blobs/unclaimed.ts'
import type { Context } from '../../../../context.ts'
import { inTransaction } from '../../../../db/transaction.ts'
import { Semaphore } from '../../../../lib/semaphore.ts'
import type { Kinds } from '../../../../tasks/kinds.ts'
import { deleteCheckpoints } from '../rows/checkpoint-queries.ts'
import { eachBatchApart, eachRowApart, mayBeTried } from '../../../../db/each-row.ts'
import { readErrorAnnotations, readSaid } from '../findings/said.ts'
import * as logs from '../queries.ts'
import { writeRows } from '../rows/rows-object.ts'
import { findLog, type Log } from '../source.ts'
import * as compactions from './compaction-queries.ts'

/** Claimed with one statement, and then compacted some at a time. */
const batchSize = 32
/** Parts of a log are held in memory, so a larger one counts as several, and a very large one is compacted alone. */
const mostAtOnce = 8
const smallBytes = 1024 * 1024
const slots = new Semaphore(mostAtOnce)
const sweepEveryMs = 5 * 60_000

/**
 * Returns the work of a poller, since a further statement at the end of every job would slow down all jobs. Each time it finds
 * the logs of jobs that have ended since the last time. Now and then it looks for all others: those whose compaction failed,
 * whose worker died, or whose queue or job was deleted.
 */
export function logCompactor(): (ctx: Context, stopping: AbortSignal) => Promise<void> {
  let doneUntil: string | null = null
  let sweptAt = 0
  return async (ctx, stopping) => {
    const until = new Date(ctx.now().getTime() - compactions.endedSeconds * 1000).toISOString()
    const after = doneUntil
    const isSweep = after === null || performance.now() - sweptAt > sweepEveryMs
    if (isSweep) sweptAt = performance.now()
    const at = ctx.now().toISOString()
    const isWanted = sql<boolean>`(${mayBeTried('logs', sql`w.job_id::text`, at)} and ${mayBeTried('log_chunks', sql`w.job_id::text`, at)})`
    const list = () =>
      isSweep
        ? compactions.listEnded(ctx.db, isWanted, batchSize)
        : compactions.listEndedBetween(ctx.db, { after, until }, batchSize)
    if (await compactAll(ctx, stopping, list)) doneUntil = until
  }
}

/** Every listed log is claimed or deleted, so it is not listed again. False: some may be left. */
async function compactAll(
  ctx: Context,
  stopping: AbortSignal,
  list: () => Promise<compactions.EndedLog[]>,
): Promise<boolean> {
  for (;;) {
    const ended = await list()
    const orphans = ended.filter((log) => !hasJob(log)).map(({ job_id }) => job_id)
    await eachRowApart(ctx, 'log_chunks', orphans, String, (jobId) => deleteChunksOf(ctx, jobId))
    // When one fails, the store may be down; the others then wait for the next run.
    const isDone = await compactSome(ctx, stopping, ended.filter(hasJob))
    if (!isDone || stopping.aborted) return false
    if (ended.length < batchSize) return true
  }
}

const hasJob = (log: compactions.EndedLog): log is LogOfJob => log.organization_id !== null

interface LogOfJob {
  job_id: string
  organization_id: string
}

/** False: one failed. It is listed again when its lease has ended. */
async function compactSome(
  ctx: Context,
  stopping: AbortSignal,
  ended: readonly LogOfJob[],
): Promise<boolean> {
  if (ended.length === 0) return true
  const queue: LogOfJob[] = []
  let failures = await eachBatchApart(ctx, 'logs', ended, idOf, async (some) => {
    const claimed = new Set(await compactions.claim(ctx.db, some.map(idOf)))
    const others = some.filter((log) => !claimed.has(log.job_id))
    if (others.length > 0) await compactions.deleteStrays(ctx.db, others.map(idOf))
    queue.push(...some.filter((log) => claimed.has(log.job_id)))
  })
  const work = async () => {
    while (!stopping.aborted) {
      const log = queue.shift()
      if (log === undefined) return
      await compactClaimed(ctx, log).catch((error: unknown) => {
        failures++
        ctx.log.warn(
          { err: error, job_id: log.job_id },
          'Could not compact a log; trying again in 10 minutes.',
        )
      })
    }
  }
  await Promise.all(Array.from({ length: mostAtOnce }, work))
  if (queue.length > 0) await compactions.release(ctx.db, queue.map(idOf))
  return failures === 0
}

const idOf = (log: LogOfJob): string => log.job_id

/** For the tasks that the previous release enqueues. */
export async function compactLog(ctx: Context, log: Kinds['compact_log']): Promise<void> {
  const { job_id: jobId } = log
  if (!hasJob(log)) return deleteChunksOf(ctx, jobId)
  const claimed = await compactions.claim(ctx.db, [jobId])
  if (claimed.length === 0) return compactions.deleteStrays(ctx.db, [jobId])
  await compactClaimed(ctx, log)
}

const deleteChunksOf = (ctx: Context, jobId: string): Promise<void> =>
  inTransaction(ctx.db, async (trx) => void (await logs.deleteChunks(trx, jobId)))

async function compactClaimed(
  ctx: Context,
  { job_id: jobId, organization_id: orgId }: LogOfJob,
): Promise<void> {
  const chunks = (await logs.listChunks(ctx.db, jobId, -1)).length
  const log = await findLog(ctx, orgId, jobId)
  if (log === null) return
  const weight = Math.ceil(log.size / smallBytes)
  await slots.run(() => storeLog(ctx, orgId, jobId, { log, chunks }), Math.max(1, weight))
}

/** `chunks` is how many it had before. */
async function storeLog(
  ctx: Context,
  orgId: string,
  jobId: string,
  { log, chunks }: { log: Log; chunks: number },
): Promise<void> {
  const key = `logs/${orgId}/${jobId}/${randomUUID()}`
  await announce(ctx.db, key)
  await ctx.blobs.put(key, Readable.from(log.read(0, log.size)), log.size)
  const rows = await writeRows(ctx, orgId, jobId, log)
  const said = await (log.hasFailed ? readSaid : readErrorAnnotations)(ctx.db, orgId, jobId)
  const keys = [key, rows.stored.key]
  await inTransaction(ctx.db, async (trx) => {
    if (!(await compactions.finish(trx, jobId, { key, size: log.size, rows, said })))
      return release(trx, keys)
    for (const stored of keys) {
      if (!(await claim(trx, stored)))
        throw new Error('The objects took longer to write than unclaimed objects are kept.')
    }
    await deleteCheckpoints(trx, jobId)
    if ((await logs.deleteChunks(trx, jobId)) !== chunks)
      throw new Error('Chunks arrived while the log was compacted.')
  })
}
