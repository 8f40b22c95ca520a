// One JSON line per request and per notable event. pino buffers lines for at most a tenth of a second. It writes
// synchronously: at the exit of the process an unfinished asynchronous write would put lines out of order.
import pino, { type Logger, type LoggerOptions } from 'pino'
import { isDatabaseAway } from '../db/away.ts'

const bufferedMs = 100

export function openLog(level: string, dest: number | string = 2): Logger {
  const destination = pino.destination({ dest, sync: true, minLength: 4096 })
  process.on('exit', () => destination.flushSync())
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    timer = undefined
    destination.flush()
  }
  // The destination's own timer would wake an idle process ten times a second.
  const stream = {
    write(line: string): void {
      destination.write(line)
      timer ??= setTimeout(flush, bufferedMs).unref()
    },
    flushSync: () => destination.flushSync(),
  }
  return pino({ level, hooks: { logMethod: demoteConsequences } }, stream)
}

/**
 * While the database is away, everything that uses it fails repeatedly. db/outage.ts reports that once; the failures of
 * single callers are logged for debugging only.
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
