// Checkpoints of growing logs: the state of the screen after every megabyte, so that rows anywhere in the log are found
// by replaying a small part of it. A worker adds them while a long log grows, else the first reader does.
import type { Context } from '../../../../context.ts'
import type { Kinds } from '../../../../tasks/kinds.ts'
import { withPlace, type Place } from '../../../../lib/threads.ts'
import { findLastCheckpoint, insertCheckpoint } from './checkpoint-queries.ts'
import { nothing, type readSegment } from './row-tasks.ts'
import { readSegmentAt, runRowTask, segmentBytes } from './segments.ts'
import { findLog, type Log } from '../source.ts'

const running = new Map<string, Promise<boolean>>()

/** Until less than a segment follows the last checkpoint. */
export async function addCheckpoints(
  ctx: Context,
  orgId: string,
  jobId: string,
  log: Log,
  place: Place,
): Promise<void> {
  for (let isAdded = true; isAdded;) {
    const adding = running.get(jobId)
    if (adding !== undefined) {
      // It may have failed because its reader has left.
      isAdded = await adding.catch(() => true)
      continue
    }
    const added = addCheckpoint(ctx, orgId, jobId, log, place)
    running.set(jobId, added)
    isAdded = await added.finally(() => running.delete(jobId))
  }
}

/** False: there is none to add. */
async function addCheckpoint(
  ctx: Context,
  orgId: string,
  jobId: string,
  log: Log,
  place: Place,
): Promise<boolean> {
  if (log.settledSize <= segmentBytes) return false
  const last = await findLastCheckpoint(ctx.db, orgId, jobId)
  if (log.settledSize - (last?.offset ?? 0) <= segmentBytes) return false
  const segment = await readSegmentAt(log, last)
  const { state, groups } = await runRowTask<typeof readSegment>(place, 'readSegment', {
    segment: { ...segment, isLast: false },
    wanted: nothing,
  })
  return insertCheckpoint(ctx.db, orgId, jobId, { state, groups })
}

export async function checkpointLog(
  ctx: Context,
  { job_id: jobId, organization_id: orgId }: Kinds['checkpoint_log'],
): Promise<void> {
  const log = await findLog(ctx, orgId, jobId)
  if (log === null || log.compacted !== null) return
  const work = { kind: 'background', organizationId: orgId, sender: jobId, until: null } as const
  await withPlace(work, (place) => addCheckpoints(ctx, orgId, jobId, log, place))
}
