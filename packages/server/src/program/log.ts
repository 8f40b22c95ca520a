// One JSON line per request and per event of note. Lines are written in batches, a tenth of a second late at most, and
// the rest when the process ends: writing each by itself costs as much as answering a small request. The batch is ours,
// since the one of the library counts its bytes anew with each line.
import pino, { type Logger } from 'pino'

const flushAfterMs = 100
const batchLength = 16_384

export function openLog(level: string, destination: number | string = 2): Logger {
  let batch = ''
  let flushing: NodeJS.Timeout | null = null
  const flush = () => {
    if (flushing !== null) clearTimeout(flushing)
    flushing = null
    if (batch !== '') lines.write(batch)
    batch = ''
  }
  const write = (line: string) => {
    batch += line
    if (batch.length >= batchLength) flush()
    else flushing ??= setTimeout(flush, flushAfterMs).unref()
  }
  // Before those that the library has for the same moments, which write what it was given.
  process.on('beforeExit', flush)
  process.on('exit', () => {
    // Nothing that begins now would end: it is left to what the library writes at once.
    Object.assign(lines, { minLength: Infinity })
    flush()
  })
  const lines = pino.destination({ dest: destination, sync: false })
  return pino({ level }, { write })
}
