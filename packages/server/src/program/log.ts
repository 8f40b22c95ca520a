// One JSON line per request and per notable event. pino buffers lines for at most a tenth of a second. It writes
// synchronously: at the exit of the process an unfinished asynchronous write would put lines out of order.
import pino, { type Logger, type LoggerOptions } from 'pino'
import { isDatabaseAway } from '../db/away.ts'

export function openLog(level: string, dest: number | string = 2): Logger {
  const destination = pino.destination({ dest, sync: true, minLength: 4096, periodicFlush: 100 })
  process.on('exit', () => destination.flushSync())
  return pino({ level, hooks: { logMethod: demoteConsequences } }, destination)
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
