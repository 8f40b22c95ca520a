// The rows of a log: replayed while the log is in chunks, read from their object after compaction.
import type { Context } from '../../../../context.ts'
import { findLog, type Log } from '../source.ts'
import { growingRows } from './growing-rows.ts'
import type { Place } from '../../../../lib/threads.ts'
import { makeRowsOnce } from './rows-object.ts'
import type { RowSource } from './row-source.ts'
import { storedRows } from './stored-rows.ts'

/** null: the job runs no command, or its log was deleted. */
export async function findRows(
  ctx: Context,
  orgId: string,
  jobId: string,
  place: Place,
): Promise<RowSource | null> {
  const log = await findLog(ctx, orgId, jobId)
  return log === null ? null : rowsOf(ctx, orgId, jobId, log, place)
}

/** null: the log was deleted meanwhile. */
export async function rowsOf(
  ctx: Context,
  orgId: string,
  jobId: string,
  log: Log,
  place: Place,
): Promise<RowSource | null> {
  if (log.compacted === null) return growingRows(ctx, orgId, jobId, log, place)
  const stored = log.compacted.rows ?? (await makeRowsOnce(ctx, orgId, jobId, log))
  return stored === null ? null : storedRows(ctx, log, stored)
}
