// The early end of a job: the processes are asked to stop, what follows the command may still run, and when the
// grace is over nothing may.

import { setMaxListeners } from 'node:events'
import type { Clock } from '../clock.ts'
import type { Processes } from './processes.ts'

export interface Cancel {
  request(reason: CancelReason, isTimeout?: boolean): void
  readonly requested: { reason: CancelReason; isTimeout: boolean } | null
  /** Without any grace, and though nobody asked for it. */
  endNow(): void
  /** Aborts when the grace is over. */
  readonly over: AbortSignal
  /** No further request is heard and no timer is left. */
  close(): void
}

export type CancelReason = 'cancel' | 'agent_stop'

export interface CancelOptions {
  processes: Processes
  signal: NodeJS.Signals
  graceSeconds: number
  clock: Clock
  /** Told once. */
  requested: (reason: CancelReason, isTimeout: boolean) => void
}

export function createCancel({ processes, signal, graceSeconds, clock, requested }: CancelOptions): Cancel {
  const over = new AbortController()
  const closed = new AbortController()
  // Files are sent side by side, and each request listens.
  setMaxListeners(0, over.signal)
  let request: Cancel['requested'] = null

  async function endAfterGrace(): Promise<void> {
    // The last second belongs to reporting the end.
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
