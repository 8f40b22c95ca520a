// Tells errors of the database from bugs. Errors of PostgreSQL have a five-letter code, those of sockets a name, and those of
// pg only a message.
import pg from 'pg'

/** The connection is lost; a new one may work. */
function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof pg.DatabaseError) return error.severity === 'FATAL' || codeOf(error).startsWith('08')
  return socketCodes.has(codeOf(error)) || driverMessages.test(error.message)
}

/** The database cannot be used now: it is unreachable, starts, stops, is read-only or out of resources. */
export const isDatabaseAway = (error: unknown): boolean =>
  isConnectionLost(error) || (error instanceof pg.DatabaseError && awayCodes.test(error.code ?? ''))

/**
 * The connection leads to a read-only server or, since even the limit of PostgreSQL itself brought no answer, nowhere. Other
 * connections of the same age may do so too.
 */
export const isMisled = (error: unknown): boolean =>
  error instanceof pg.DatabaseError
    ? error.code === readOnly
    : error instanceof Error && error.message === 'Query read timeout'

const readOnly = '25006'

/** A statement took too long, or failed repeatedly because of concurrent ones. */
export const isDatabaseBusy = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && busyCodes.test(error.code ?? '')

const codeOf = (error: Error): string => {
  const code: unknown = Reflect.get(error, 'code')
  return typeof code === 'string' ? code : ''
}

const socketCodes: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
])

const driverMessages =
  /^(Connection terminated|Query read timeout|timeout expired|timeout exceeded when trying to connect|Client (was closed|has encountered a connection error)|Cannot use a pool after calling end)/

/**
 * Connection exceptions (08), a read-only server (25006), refused logins (28), a database that is not there (3D000), no disk,
 * memory or connections left (53), an object in use (55006), a server that stops or starts (57P), and its system errors (58).
 */
const awayCodes = /^(08|25006|28|3D000|53|55006|57P0|58)/

/** Serialization failure, deadlock, unknown completion, lock not available, statement canceled by its time limit. */
const busyCodes = /^(40001|40P01|40003|55P03|57014)$/
