// One reader of a growing log for all streams of this process that follow it. It holds the end of the log in memory. A stream
// takes what is new from there at its own pace; one that is further behind reads the log itself until it has caught up.
import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../../../../context.ts'
import { findLogFrom, type Log } from '../source.ts'

const pollMs = 250
const retryMs = 1000
const mostFailures = 10
/** Proxies close idle connections. */
const aliveMs = 15_000

export const retryLine = 'retry: 1000\n\n'
export const aliveLine = ': still there\n\n'
export const deletedEvent = 'event: deleted\ndata: {}\n\n'

export interface FollowedLog {
  ctx: Context
  orgId: string
  jobId: string
}

/** What is held of a log. */
export interface LogEnd {
  /** The log is known up to this offset, in bytes. null: nothing is known yet. */
  readonly offset: number | null
  /** Takes what the log has beyond that. False: nothing was new. */
  grow(log: Log): Promise<boolean>
}

/** null: the log still grows. */
type Outcome = 'final' | 'deleted' | null

export class Feed<End extends LogEnd> {
  private readonly end: End
  private outcome: Outcome = null
  /** The size of the log when it was read last. */
  size = 0
  private readonly log: FollowedLog
  private failure: unknown = null
  private change = deferred()
  private changes = 0
  private readonly stopping = new AbortController()

  constructor(log: FollowedLog, end: End) {
    this.log = log
    this.end = end
  }

  /** What is held now, and a function that waits for what comes after it. False: nothing came for some seconds. */
  look(): { outcome: Outcome; end: End; changed: () => Promise<boolean> } {
    const { outcome, end, change, changes } = this
    return {
      outcome,
      end,
      changed: async () => {
        await change.promise
        if (this.failure !== null) throw this.failure
        return this.changes > changes
      },
    }
  }

  async run(): Promise<void> {
    let notifiedAt = performance.now()
    for (let failures = 0; this.outcome === null && !this.stopping.signal.aborted;) {
      let isNew = false
      try {
        isNew = await this.poll()
        if (isNew) this.changes++
        failures = 0
      } catch (error) {
        if (++failures === mostFailures) this.failure = error
        this.log.ctx.log.warn({ err: error, job_id: this.log.jobId }, 'A log could not be followed.')
      }
      if (isNew || this.failure !== null || performance.now() - notifiedAt >= aliveMs) {
        notifiedAt = performance.now()
        this.notify()
      }
      if (this.outcome !== null || this.failure !== null) break
      const { signal } = this.stopping
      await delay(failures === 0 ? pollMs : retryMs, undefined, { signal }).catch(() => {})
    }
    this.notify()
  }

  stop(): void {
    this.stopping.abort()
  }

  private async poll(): Promise<boolean> {
    const { ctx, orgId, jobId } = this.log
    const log = await findLogFrom(ctx, orgId, jobId, this.end.offset ?? 0)
    if (log === null) {
      this.outcome = 'deleted'
      return true
    }
    const isNew = await this.end.grow(log)
    this.size = log.size
    if (log.isFinal) this.outcome = 'final'
    return isNew || log.isFinal
  }

  private notify(): void {
    this.change.resolve()
    this.change = deferred()
  }
}

/** The feeds of one kind, by job, of each server. */
export class Feeds<End extends LogEnd> {
  private readonly ofServer = new WeakMap<Context, Map<string, { feed: Feed<End>; streams: number }>>()
  private readonly start: (log: FollowedLog) => End

  constructor(start: (log: FollowedLog) => End) {
    this.start = start
  }

  /** `until` aborts when the stream ends. */
  join(log: FollowedLog, until: AbortSignal): Feed<End> {
    const feeds = this.ofServer.get(log.ctx) ?? new Map<string, { feed: Feed<End>; streams: number }>()
    this.ofServer.set(log.ctx, feeds)
    const running = feeds.get(log.jobId)
    const entry = running ?? { feed: new Feed(log, this.start(log)), streams: 0 }
    entry.streams++
    if (running === undefined) {
      feeds.set(log.jobId, entry)
      void entry.feed.run().finally(() => {
        if (feeds.get(log.jobId) === entry) feeds.delete(log.jobId)
      })
    }
    const leave = () => {
      if (--entry.streams > 0) return
      entry.feed.stop()
      if (feeds.get(log.jobId) === entry) feeds.delete(log.jobId)
    }
    if (until.aborted) leave()
    else until.addEventListener('abort', leave, { once: true })
    return entry.feed
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
