// Follows a growing log for a stream of server-sent events, until the log ends or is deleted.
import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../../../../context.ts'
import { findLogFrom, type Log } from '../source.ts'

const pollMs = 250
/** Proxies close idle connections. */
const aliveMs = 15_000

export const retryLine = 'retry: 1000\n\n'
export const deletedEvent = 'event: deleted\ndata: {}\n\n'

interface Follower {
  /** The log is known up to this offset. */
  offset(): number
  /** What the log has beyond that. */
  newEvents(log: Log): AsyncGenerator<string>
  endEvent(log: Log): string
}

export async function* pollLog(
  ctx: Context,
  orgId: string,
  jobId: string,
  follower: Follower,
): AsyncGenerator<string> {
  let sentAt = performance.now()
  for (;;) {
    const log = await findLogFrom(ctx, orgId, jobId, follower.offset())
    if (log === null) return yield deletedEvent
    for await (const event of follower.newEvents(log)) {
      sentAt = performance.now()
      yield event
    }
    if (log.isFinal) return yield follower.endEvent(log)
    if (performance.now() - sentAt >= aliveMs) {
      sentAt = performance.now()
      yield ': still there\n\n'
    }
    await delay(pollMs)
  }
}
