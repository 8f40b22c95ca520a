// Holds a container to a number of processes and threads where the engine that runs it cannot. A process is not kept
// from starting others; but it is seen within moments that there are too many, and then all of them end.

import { constants, getPriority, setPriority } from 'node:os'
import { Worker } from 'node:worker_threads'

export interface ProcessLimit {
  /** True from before anything is ended for it. */
  isExceeded(): boolean
  /** Aborts soon after. */
  exceeded: AbortSignal
  /** What to say then. */
  reason: string
}

/** What the thread that looks is given. */
export interface ProcessWatch {
  most: number
  /** Becomes 1 when there were too many. */
  isExceeded: Int32Array
}

/** By how much everything that this thread starts comes behind. */
const STEP_BACK = 10

/**
 * Looks from a thread of its own. Thousands of processes leave little time to each other: so that thread does nothing
 * else, and comes before all that is started from now on, which a process without privileges cannot change for itself.
 * To other containers, who have their share of the machine whatever happens in here, it makes no difference.
 */
export function limitProcesses(most: number): ProcessLimit {
  const isExceeded = new Int32Array(new SharedArrayBuffer(4))
  const workerData: ProcessWatch = { most, isExceeded }
  const worker = new Worker(new URL('process-watch.js', import.meta.url), { workerData })
  setPriority(Math.min(getPriority() + STEP_BACK, constants.priority.PRIORITY_LOW))
  const exceeded = new AbortController()
  worker.on('message', () => exceeded.abort())
  worker.unref()
  return {
    isExceeded: () => Atomics.load(isExceeded, 0) === 1,
    exceeded: exceeded.signal,
    reason: `There were more than ${most} processes and threads at once, which is the limit here, so all of them were killed. Start fewer at a time, or use a queue with a larger instance shape.`,
  }
}
