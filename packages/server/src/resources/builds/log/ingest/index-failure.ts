// Makes what a failed job said findable as soon as the job has ended. Chunks may still arrive for a minute, so compaction
// (compact.ts) does it again with the whole log. It also does it for jobs whose task was lost.
import type { RawBuilder } from 'kysely'
import type { Context } from '../../../../context.ts'
import { inTransaction } from '../../../../db/transaction.ts'
import { withPlace, type Place } from '../../../../lib/threads.ts'
import { addTasks } from '../../../../tasks/enqueue.ts'
import type { Kinds } from '../../../../tasks/kinds.ts'
import { findCheckpointAt } from '../rows/checkpoint-queries.ts'
import type { findTelling } from '../rows/row-tasks.ts'
import { replaySegments, runRowTask, segmentBytes } from '../rows/segments.ts'
import { findLog, type Log } from '../source.ts'
import * as findings from '../findings/queries.ts'
import { readSaid } from '../findings/said.ts'
import { TellingLines, type Findings } from '../findings/telling-lines.ts'

/** Many jobs may fail at once, so other tasks run before these. */
export const indexSoon = (organizationId: string, jobId: string): RawBuilder<unknown> =>
  addTasks('index_failure', [
    { payload: { job_id: jobId, organization_id: organizationId }, key: jobId, isPatient: true },
  ])

/** Of a longer log only the rows after a checkpoint are read. The others follow with compaction. */
const mostBytes = 32 * segmentBytes
const readAtLeast = 8 * segmentBytes

export async function indexFailure(
  ctx: Context,
  { job_id: jobId, organization_id: orgId }: Kinds['index_failure'],
): Promise<void> {
  if (!(await findings.isFailed(ctx.db, orgId, jobId))) return
  const log = await findLog(ctx, orgId, jobId)
  const work = { kind: 'background', organizationId: orgId, sender: jobId, until: null } as const
  const ofLog =
    log === null || log.compacted !== null
      ? null
      : await withPlace(work, (place) => readFindings(ctx, orgId, jobId, { log, place }))
  const said = await readSaid(ctx.db, orgId, jobId)
  await inTransaction(ctx.db, (trx) => findings.storeEarlyFindings(trx, orgId, jobId, { log: ofLog, said }))
}

async function readFindings(
  ctx: Context,
  orgId: string,
  jobId: string,
  { log, place }: { log: Log; place: Place },
): Promise<Findings | null> {
  const start =
    log.size <= mostBytes ? null : await findCheckpointAt(ctx.db, orgId, jobId, log.size - readAtLeast)
  const telling = new TellingLines()
  let failingRow: number | null = null
  const segments = replaySegments(log, start, (segment) =>
    runRowTask<typeof findTelling>(place, 'findTelling', { segment, isOpen: telling.isOpen }),
  )
  for await (const { telling: rows, outline } of segments) {
    telling.add(rows)
    failingRow = outline.failingRow
  }
  return telling.findings(failingRow)
}
