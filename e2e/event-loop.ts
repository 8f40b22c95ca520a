// Measures how long a server's event loop is blocked. A script in the server's process records the CPU time that the main
// thread used between two timers. CPU time, because on a busy machine the process also waits for a processor.
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
  setInterval(() => {
    const now = usedMs()
    if (now - before > 10) appendFileSync(file, Math.round(now - before) + '\\n')
    before = now
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
