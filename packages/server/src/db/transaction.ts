import pg from 'pg'
import type { Db, Trx } from './pool.ts'

/**
 * Runs in one transaction: the one already open when there is one, else a new one. A new one is tried again when
 * PostgreSQL broke it off because of another (deadlock, serialization), so `work` must have no effect but its SQL.
 */
export async function inTransaction<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  return isOpen(db) ? work(db) : inNewTransaction(db, work)
}

async function inNewTransaction<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().execute(work)
    } catch (error) {
      if (attempt === 5 || !isBrokenOff(error)) throw error
    }
  }
}

const isOpen = (db: Db): db is Trx => db.isTransaction

const isBrokenOff = (error: unknown) =>
  error instanceof pg.DatabaseError && (error.code === '40P01' || error.code === '40001')

/** Whether the database refused the data itself (SQLSTATE classes 22 and 23), so that trying again cannot help. */
export const refusesData = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && /^2[23]/.test(error.code ?? '')

/** The name of the unique constraint or index that refused a write; null for any other error. */
export function violatedUnique(error: unknown): string | null {
  return error instanceof pg.DatabaseError && error.code === '23505' ? (error.constraint ?? null) : null
}
