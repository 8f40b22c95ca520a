// Measures how long a server's event loop is blocked. A script in the server's process records the CPU time that the main
// thread used between two timers. CPU time, because on a busy machine the process also waits for a processor. The kernel
// updates the CPU time of a running thread late, so one record can contain that of many earlier turns of the event loop. A
// pause is therefore never longer than the longest of the last ten turns by the clock.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

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
  /** For the environment of the server. */
  settings: Record<string, string>
  /** The longest pause in milliseconds since the last call. */
  longestPause(): number
  close(): void
}

export function watchEventLoop(): EventLoopWatch {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-event-loop-'))
  const [script, pauses] = [join(folder, 'watch.mjs'), join(folder, 'pauses')]
  writeFileSync(script, watcher)
  writeFileSync(pauses, '')
  let seen = 0
  return {
    settings: { NODE_OPTIONS: `--import=${pathToFileURL(script).href}`, EVENT_LOOP_PAUSES: pauses },
    longestPause() {
      const lines = readFileSync(pauses, 'utf8').split('\n').slice(0, -1)
      const fresh = lines.slice(seen).map(Number)
      seen = lines.length
      return Math.max(0, ...fresh)
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}
