// Limits the processes and threads of a container where the engine cannot. It does not prevent forks: it counts often, and
// kills everything when there are too many.

import { constants, getPriority, setPriority } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { packageFolder } from './package-folder.ts'

export interface ProcessLimit {
  /** Set before anything is killed. */
  isExceeded(): boolean
  /** Aborts shortly after. */
  exceeded: AbortSignal
  /** The line for the job's log. */
  reason: string
}

/** The data of the counting thread. */
export interface ProcessWatch {
  most: number
  /** Becomes 1 when there were too many. */
  isExceeded: Int32Array
}

/** The niceness of the processes that this thread starts. */
const STEP_BACK = 10

/**
 * Counts in a separate thread that does nothing else. Thousands of processes leave it little CPU time, so every process
 * started from now on gets a lower priority, which an unprivileged process cannot raise. Other containers are not
 * affected, because their CPU share is fixed.
 */
export function limitProcesses(most: number): ProcessLimit {
  const isExceeded = new Int32Array(new SharedArrayBuffer(4))
  const workerData: ProcessWatch = { most, isExceeded }
  const worker = new Worker(join(packageFolder, 'dist', 'process-watch.js'), { workerData })
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
