// One JSON line per request and per event of note. Lines are written in batches, a tenth of a second late at most, and
// the rest when the process ends: writing each by itself costs as much as answering a small request.
import pino, { type Logger } from 'pino'

const flushAfterMs = 100
const batchBytes = 4096

export function openLog(level: string, destination: number | string = 2): Logger {
  const lines = pino.destination({ dest: destination, sync: false, minLength: batchBytes })
  let flushing: NodeJS.Timeout | null = null
  const flush = () => {
    flushing = null
    lines.flush()
  }
  // Its own clock would write ten times a second, even where there is nothing to be written.
  const write = (line: string) => {
    lines.write(line)
    flushing ??= setTimeout(flush, flushAfterMs).unref()
  }
  return pino({ level }, { write })
}
