// Statements that do not need each other's answers, sent at once: one way to the database and back for all of them.
import { sql, type QueryResult } from 'kysely'
import type { BatchConnection } from './driver.ts'
import { silenceMs, type Db, type Trx } from './pool.ts'
import type { Statement } from './statement.ts'

type RowsOf<Statements> = {
  [Index in keyof Statements]: Statements[Index] extends Statement<infer Row> ? Row[] : never
}

/**
 * The rows of each. PostgreSQL carries them out in their order, each seeing what those before it did; where one fails,
 * all fail. Outside of a transaction they are one.
 */
export async function batch<const Statements extends readonly Statement[]>(
  db: Db,
  statements: Statements,
): Promise<RowsOf<Statements>> {
  const queries = statements.map((statement) => statement.compile(db))
  const results = await onConnection(db, (connection) => connection.executeTogether(queries))
  return rowsOf<Statements>(results)
}

/** Sent with whatever the transaction sends next, at the latest its `commit`, which fails if one of them does. */
export const defer = (trx: Trx, statements: readonly Statement[]): Promise<void> => {
  const queries = statements.map((statement) => statement.compile(trx))
  return onConnection(trx, async (connection) => connection.executeLater(queries))
}

/**
 * The same for the last statements of a transaction, which are sent with its `commit`: whoever asks nothing more need not
 * come back for that. Not for work that may be part of a larger transaction.
 */
export async function commitWith<const Statements extends readonly Statement[]>(
  trx: Trx,
  statements: Statements,
): Promise<RowsOf<Statements>> {
  const queries = statements.map((statement) => statement.compile(trx))
  const results = await onConnection(trx, (connection) => connection.executeAndCommit(queries))
  return rowsOf<Statements>(results)
}

/**
 * One transaction whose statements may each take that long: for deletes of unknown size in the background, never for what
 * a caller waits for.
 */
export const inLongTransaction = <T>(db: Db, seconds: number, work: (trx: Trx) => Promise<T>): Promise<T> =>
  db.transaction().execute(async (trx) => {
    await onConnection(trx, async (connection) => connection.waitUpTo(seconds * 1000 + silenceMs))
    await defer(trx, [sql`set local statement_timeout = ${sql.lit(seconds * 1000)}`])
    return work(trx)
  })

/** Connections are made by driver.ts alone. */
const onConnection = <T>(db: Db, use: (connection: BatchConnection) => Promise<T>): Promise<T> =>
  db.getExecutor().provideConnection((connection) => use(connection as BatchConnection))

/** Which rows a statement gives is what it says of itself. */
const rowsOf = <Statements>(results: ReadonlyArray<QueryResult<unknown>>) =>
  results.map(({ rows }) => rows) as RowsOf<Statements>
