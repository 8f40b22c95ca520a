import { sql } from 'kysely'
import pg from 'pg'
import { defer, onConnection } from './batch.ts'
import { silenceMs, type Db, type Trx } from './pool.ts'

/**
 * Runs `work` in the open transaction if `db` is one, else in a new one. A new one is retried after a deadlock or a
 * serialization failure, so `work` must have no effect but its SQL. `isRetried`: further errors that a retry avoids.
 */
export async function inTransaction<T>(
  db: Db,
  work: (trx: Trx) => Promise<T>,
  isRetried: (error: unknown) => boolean = () => false,
): Promise<T> {
  return isOpen(db) ? work(db) : inNewTransaction(db, work, isRetried)
}

async function inNewTransaction<T>(
  db: Db,
  work: (trx: Trx) => Promise<T>,
  isRetried: (error: unknown) => boolean,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute(work)
    } catch (error) {
      if (attempt === 5 || !(isRetryable(error) || isRetried(error))) throw error
    }
  }
}

/**
 * Runs `work` in the open transaction. If it throws, or if its result is not kept, nothing of it remains, and the transaction
 * goes on.
 */
export async function inSavepoint<T>(
  trx: Trx,
  work: () => Promise<T>,
  isKept: (result: T) => boolean = () => true,
): Promise<T> {
  const savepoint = await onConnection(trx, (connection) => connection.openSavepoint())
  const undo = () => onConnection(trx, () => savepoint.undo())
  try {
    const result = await work()
    await (isKept(result) ? onConnection(trx, () => savepoint.keep()) : undo())
    return result
  } catch (error) {
    // The error of the work is the one to report. If this fails too, so does the next statement.
    await undo().catch(() => {})
    throw error
  }
}

/** One transaction whose statements may each take `seconds`: for large deletes in the background, never for a request. */
export const inLongTransaction = <T>(db: Db, seconds: number, work: (trx: Trx) => Promise<T>): Promise<T> =>
  db.transaction().execute(async (trx) => {
    await onConnection(trx, async (connection) => connection.setTimeout(seconds * 1000 + silenceMs))
    await defer(trx, [sql`set local statement_timeout = ${sql.lit(seconds * 1000)}`])
    return work(trx)
  })

export const isOpen = (db: Db): db is Trx => db.isTransaction

const isRetryable = (error: unknown) =>
  error instanceof pg.DatabaseError && (error.code === '40P01' || error.code === '40001')

/** Whether the database rejected the data itself (SQLSTATE classes 22 and 23), so that a retry cannot help. */
export const refusesData = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && /^2[23]/.test(error.code ?? '')

/** The name of the unique constraint or index that a write violated; null for any other error. */
export function violatedUnique(error: unknown): string | null {
  return error instanceof pg.DatabaseError && error.code === '23505' ? (error.constraint ?? null) : null
}
