// Processes that wait for the next trusted jobs of one agent, because starting one is slow. Each is for one job only.
//
//   idle   one process waits
//   busy   jobs follow each other closely: two processes wait, so that the next job does not wait for the start of one
import type { JobLaunch } from '../settings.ts'
import { endJobProcess, startJobProcess } from './job-process.ts'
import type { JobProcess } from './job-process.ts'

interface ReadyProcesses {
  /** The caller owns it. */
  take(): JobProcess
  /** Starts a process if none waits. */
  startFirst(): void
  /** Starts a process if fewer wait than there should be. */
  startMore(): void
  /** Ends those that wait. */
  close(): Promise<void>
}

const IDLE_COUNT = 1
const BUSY_COUNT = 2
/** Without a job for this long the agent is idle. */
const BUSY_MS = 10_000

export function keepReady(launch: JobLaunch): ReadyProcesses {
  let waiting: JobProcess[] = []
  let wanted = IDLE_COUNT
  let idleTimer: NodeJS.Timeout | null = null

  function startUnless(enough: number): void {
    if (waiting.length < enough) waiting.push(startJobProcess(launch))
  }

  function becomeIdle(): void {
    idleTimer = null
    wanted = IDLE_COUNT
    for (const one of waiting.splice(IDLE_COUNT)) void endJobProcess(one)
  }

  startUnless(IDLE_COUNT)
  return {
    take() {
      const usable = waiting.filter(isUsable)
      for (const one of waiting) if (!usable.includes(one)) void endJobProcess(one)
      const taken = usable.shift() ?? startJobProcess(launch)
      waiting = usable
      if (idleTimer !== null) {
        wanted = BUSY_COUNT
        clearTimeout(idleTimer)
      }
      idleTimer = setTimeout(becomeIdle, BUSY_MS).unref()
      return taken
    },
    startFirst: () => startUnless(IDLE_COUNT),
    startMore: () => startUnless(wanted),
    async close() {
      if (idleTimer !== null) clearTimeout(idleTimer)
      await Promise.all(waiting.splice(0).map(endJobProcess))
    },
  }
}

const isUsable = ({ hasEnded, folders }: JobProcess): boolean => !hasEnded() && folders?.isCurrent() !== false
