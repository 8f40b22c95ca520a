// Cancels a job: signals its processes, lets later phases run, and ends everything after the grace period.

import { setMaxListeners } from 'node:events'
import type { Clock } from '../clock.ts'
import type { Processes } from './processes.ts'

export interface Cancel {
  request(reason: CancelReason, isTimeout?: boolean): void
  readonly requested: { reason: CancelReason; isTimeout: boolean } | null
  /** Ends the job immediately, without a grace period. */
  endNow(): void
  /** Aborts when the grace period ends. */
  readonly over: AbortSignal
  /** Ignores further requests and clears the timers. */
  close(): void
}

export type CancelReason = 'cancel' | 'agent_stop'

interface CancelOptions {
  processes: Processes
  signal: NodeJS.Signals
  graceSeconds: number
  clock: Clock
  /** Called once. */
  requested: (reason: CancelReason, isTimeout: boolean) => void
}

export function createCancel({ processes, signal, graceSeconds, clock, requested }: CancelOptions): Cancel {
  const over = new AbortController()
  const closed = new AbortController()
  // Many parallel uploads listen to this signal.
  setMaxListeners(0, over.signal)
  let request: Cancel['requested'] = null

  async function endAfterGrace(): Promise<void> {
    // Keep the last second for the report.
    await clock.sleep((graceSeconds - 1) * 1000, closed.signal)
    endNow()
  }

  function endNow(): void {
    if (closed.signal.aborted) return
    over.abort()
    processes.signal('SIGKILL')
  }

  return {
    request(reason, isTimeout = false) {
      if (request !== null || closed.signal.aborted) return
      request = { reason, isTimeout }
      requested(reason, isTimeout)
      processes.signal(signal)
      void endAfterGrace()
    },
    endNow,
    get requested() {
      return request
    },
    over: over.signal,
    close: () => closed.abort(),
  }
}
