// The thread that counts processes, and kills all of them when there are too many.

import { readlinkSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { codeOf } from './http/exchange.ts'
import { openProcessCount } from './process-count.ts'
import type { ProcessWatch } from './process-limit.ts'

const POLL_MS = 50
/** The largest share of one CPU that counting may take. */
const SHARE = 1 / 20

const { most, isExceeded } = workerData as ProcessWatch
const count = openProcessCount()
const mayEndOthers = isFirstInContainer()

function check(): void {
  const begun = performance.now()
  // Zombies count too, so no further process can run.
  if (count() > most) {
    const isKnown = Atomics.exchange(isExceeded, 0, 1) === 1
    if (mayEndOthers) endOthers()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    if (!isKnown) parentPort?.postMessage('exceeded')
  }
  setTimeout(check, Math.max(POLL_MS, (performance.now() - begun) / SHARE))
}
check()

/** Process 1 of a machine is its init, in the initial PID namespace, which has a fixed number. */
function isFirstInContainer(): boolean {
  try {
    return process.pid === 1 && readlinkSync('/proc/self/ns/pid') !== 'pid:[4026531836]'
  } catch {
    return false
  }
}

/**
 * Called only by process 1 of a namespace. The kernel signals all processes at once, and a signaled process cannot fork,
 * so a fork bomb cannot escape.
 */
function endOthers(): void {
  try {
    process.kill(-1, 'SIGKILL')
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error
  }
}
