// The thread that looks how many processes there are, and ends them all when there are too many.

import { readlinkSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { codeOf } from './http/exchange.ts'
import { openProcessCount } from './process-count.ts'
import type { ProcessWatch } from './process-limit.ts'

const LOOK_MS = 50
/** Looking takes at most this part of a processor. */
const SHARE = 1 / 20

const { most, isExceeded } = workerData as ProcessWatch
const count = openProcessCount()
const mayEndOthers = isFirstInContainer()

function look(): void {
  const begun = performance.now()
  // What has ended and was not waited for counts too, so from then on nothing gets to run.
  if (count() > most) {
    const isKnown = Atomics.exchange(isExceeded, 0, 1) === 1
    if (mayEndOthers) endOthers()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    if (!isKnown) parentPort?.postMessage('exceeded')
  }
  setTimeout(look, Math.max(LOOK_MS, (performance.now() - begun) / SHARE))
}
look()

/** Number 1 of a machine is its init, whose namespace has had the same number since there are namespaces. */
function isFirstInContainer(): boolean {
  try {
    return process.pid === 1 && readlinkSync('/proc/self/ns/pid') !== 'pid:[4026531836]'
  } catch {
    return false
  }
}

/**
 * Only ever by the first process of a namespace, whom the namespace belongs to. The kernel marks all in one go, and
 * nothing that is marked can start another: a fork bomb has nowhere to go.
 */
function endOthers(): void {
  try {
    process.kill(-1, 'SIGKILL')
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error
  }
}
