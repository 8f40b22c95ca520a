// The last rows of a growing log, for the streams that follow its rows. It replays the log once for all of them.
import { withPlace } from '../../../../lib/threads.ts'
import { findLastCheckpoint } from '../rows/checkpoint-queries.ts'
import { addCheckpoints } from '../rows/checkpoints.ts'
import type { ReplayState } from '../rows/replay.ts'
import type { FollowedRows, followSegment, Segment } from '../rows/row-tasks.ts'
import { replaySegments, runRowTask } from '../rows/segments.ts'
import type { Log } from '../source.ts'
import type { FollowedLog, LogEnd } from './feed.ts'

const mostStepBytes = 64 * 1024
const heldCharacters = 128 * 1024
/** So much of one poll is held for streams that knew everything before it. */
const mostNewCharacters = 4 * 1024 * 1024
const mostChanges = 200

/** What a stream has sent. */
export interface Sent {
  change: number
  /** The first row that could still change then. */
  firstOpen: number
}

export class RowEnd implements LogEnd {
  private readonly followed: FollowedLog
  private state: ReplayState | null = null
  private isStarted = false
  private knownSize = -1
  /** Hashes of the rows that may still change. */
  private open: readonly string[] = []
  private rows: string[] = []
  private firstRow = 1
  private characters = 0
  private change = 0
  /** The row where each of the last changes began, up to the change `change`. */
  private readonly changes: number[] = []

  constructor(followed: FollowedLog) {
    this.followed = followed
  }

  get offset(): number | null {
    return this.isStarted ? (this.state?.offset ?? 0) : null
  }

  /** The number of the first row that is held. */
  get start(): number {
    return this.firstRow
  }

  get total(): number {
    return this.firstRow + this.rows.length - 1
  }

  get sent(): Sent {
    return { change: this.change, firstOpen: (this.state?.rows ?? 0) + 1 }
  }

  rowsFrom(row: number): string[] {
    return this.rows.slice(Math.max(row - this.firstRow, 0))
  }

  /** The first row that has changed since. null: none has. */
  changedSince({ change, firstOpen }: Sent): number | null {
    if (change === this.change) return null
    const missed = this.change - change
    return missed > this.changes.length ? firstOpen : Math.min(...this.changes.slice(-missed))
  }

  async grow(log: Log): Promise<boolean> {
    const { ctx, orgId, jobId } = this.followed
    if (this.isStarted && !log.isFinal && log.size === this.knownSize) return false
    this.forget(heldCharacters)
    const before = this.change
    const isFirst = !this.isStarted
    await withPlace({ kind: 'page', organizationId: orgId, sender: jobId, until: null }, async (place) => {
      if (isFirst) {
        if (log.compacted === null) await addCheckpoints(ctx, orgId, jobId, log, place)
        this.state = await findLastCheckpoint(ctx.db, orgId, jobId)
        this.firstRow = (this.state?.rows ?? 0) + 1
      }
      const follow = (segment: Segment) =>
        runRowTask<typeof followSegment>(place, 'followSegment', { segment, open: this.open })
      for await (const step of replaySegments(log, this.state, follow, mostStepBytes)) this.take(step)
    })
    this.isStarted = true
    this.knownSize = log.size
    return isFirst || this.change > before
  }

  private take({ changed, state, open }: FollowedRows): void {
    this.state = state
    this.open = open
    if (changed === null) return
    const kept = changed.from - this.firstRow
    this.rows.length = kept
    this.rows.push(...changed.rows)
    this.characters = this.rows.reduce((sum, row) => sum + row.length, 0)
    this.change++
    this.changes.push(changed.from)
    if (this.changes.length > mostChanges) this.changes.shift()
    this.forget(mostNewCharacters)
  }

  /** Rows that may still change are kept. */
  private forget(most: number): void {
    const settled = (this.state?.rows ?? 0) + 1 - this.firstRow
    let dropped = 0
    while (dropped < settled && this.characters > most) this.characters -= this.rows[dropped++]?.length ?? 0
    if (dropped === 0) return
    this.rows.splice(0, dropped)
    this.firstRow += dropped
  }
}
