// Measures how long a server's event loop is blocked. A script in the server's process records the CPU time that the main
// thread used between two timers. CPU time, because on a busy machine the process also waits for a processor. The kernel
// updates the CPU time of a running thread late, so one record can contain that of many earlier turns of the event loop. A
// pause is therefore never longer than the longest of the last ten turns by the clock.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { aDirectory, type Settings } from './millrace.ts'

const watcher = `
import { appendFileSync, readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
const file = process.env.EVENT_LOOP_PAUSES
if (isMainThread && file !== undefined && process.argv.includes('up')) {
  const usedMs = () => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ', 1)[0]) / 1e6
  let before = usedMs()
  let beforeClock = performance.now()
  const turns = []
  setInterval(() => {
    const now = usedMs()
    const nowClock = performance.now()
    turns.push(nowClock - beforeClock)
    if (turns.length > 10) turns.shift()
    const pause = Math.min(now - before, Math.max(...turns))
    if (pause > 10) appendFileSync(file, Math.round(pause) + '\\n')
    before = now
    beforeClock = nowClock
  }, 2).unref()
}
`

export interface EventLoopWatch {
  /** For the server under test. */
  settings: Settings
  /** The longest pause in milliseconds since the last call. */
  longestPause(): number
}

export function watchEventLoop(): EventLoopWatch {
  const folder = aDirectory()
  const [script, pauses] = [join(folder, 'watch.mjs'), join(folder, 'pauses')]
  writeFileSync(script, watcher)
  writeFileSync(pauses, '')
  let seen = 0
  return {
    settings: { NODE_OPTIONS: `--import=${pathToFileURL(script).href}`, EVENT_LOOP_PAUSES: pauses },
    longestPause() {
      const lines = readFileSync(pauses, 'utf8').trim().split('\n')
      const fresh = lines.slice(seen).map(Number)
      seen = lines.length
      return Math.max(0, ...fresh)
    },
  }
}

const normalMs = 25

/** The CPU time of a fixed piece of work, relative to a normal machine; at least 1. */
export function measureSlowness(): number {
  const text = `[${'[],'.repeat(350_000)}[]]`
  const times = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage()
    JSON.parse(text)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return Math.max(1, Math.min(...times) / normalMs)
}
