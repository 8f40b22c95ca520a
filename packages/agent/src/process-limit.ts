// Holds a container to a number of processes and threads where the engine that runs it cannot. One that was started is
// not stopped from starting others; but it is seen within moments that there are too many, and then all of them end.

import { readlinkSync } from 'node:fs'
import { codeOf } from './http/exchange.ts'
import { openProcessCount } from './process-count.ts'

export interface ProcessLimit {
  /** Aborts, with what to say about it, when there were too many; whatever could be ended has been ended. */
  exceeded: AbortSignal
  /** Nobody looks any more. */
  stop(): void
}

export interface ProcessLimitOptions {
  count?: () => number
  endAll?: () => void
  lookMs?: number
}

const LOOK_MS = 50
/** Looking takes at most this part of a processor. */
const SHARE = 1 / 20

export function limitProcesses(most: number, options: ProcessLimitOptions = {}): ProcessLimit {
  const { count = openProcessCount(), lookMs = LOOK_MS } = options
  const { endAll = isFirstInContainer() ? endAllOthers : () => {} } = options
  const exceeded = new AbortController()

  function look(): void {
    const begun = performance.now()
    // What has ended and was not waited for counts too, so from then on nothing gets to run.
    if (count() > most) {
      endAll()
      exceeded.abort(new Error(reasonFor(most)))
    }
    timer = setTimeout(look, Math.max(lookMs, (performance.now() - begun) / SHARE)).unref()
  }
  let timer = setTimeout(look, lookMs).unref()

  return { exceeded: exceeded.signal, stop: () => clearTimeout(timer) }
}

const reasonFor = (most: number) =>
  `There were more than ${most} processes and threads at once, which is the limit here, so all of them were killed. ` +
  'Start fewer at a time, or use a queue with a larger instance shape.'

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
function endAllOthers(): void {
  try {
    process.kill(-1, 'SIGKILL')
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error
  }
}
