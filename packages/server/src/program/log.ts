// One JSON line per request and per event of note. Lines are written in batches, a tenth of a second late at most, and
// the rest when the process ends: writing each by itself costs as much as answering a small request. The batch is ours,
// since the one of the library counts its bytes anew with each line.
import pino, { type Logger, type LoggerOptions } from 'pino'
import { isDatabaseAway } from '../db/away.ts'

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
  return pino({ level, hooks: { logMethod: demoteConsequences } }, { write })
}

/**
 * While the database is away, everything that uses it fails, again and again. db/outage.ts tells of that once; what each
 * caller has to say about it is for debugging.
 */
export const demoteConsequences: NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']> = function (
  args,
  method,
) {
  const [fields] = args as unknown[]
  const isConsequence =
    typeof fields === 'object' && fields !== null && 'err' in fields && isDatabaseAway(fields.err)
  if (isConsequence && method !== this.debug) this.debug(...args)
  else method.apply(this, args)
}
