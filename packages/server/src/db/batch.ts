// Statements that do not need each other's results, sent in one round trip.
import type { QueryResult } from 'kysely'
import type { PipelineConnection } from './driver.ts'
import type { Db, Trx } from './pool.ts'
import type { Statement } from './statement.ts'

type RowsOf<Statements> = {
  [Index in keyof Statements]: Statements[Index] extends Statement<infer Row> ? Row[] : never
}

/**
 * Returns the rows of each statement. PostgreSQL runs them in order, and each sees the changes of those before it. If one
 * fails, all fail: outside of a transaction they are one.
 */
export async function batch<const Statements extends readonly Statement[]>(
  db: Db,
  statements: Statements,
): Promise<RowsOf<Statements>> {
  const queries = statements.map((statement) => statement.compile(db))
  return rowsOf<Statements>(await onConnection(db, (connection) => connection.executeBatch(queries)))
}

/**
 * Sends the statements with the next one of the transaction, at the latest with `commit`. Their errors come from there: catch
 * an expected one outside of `inTransaction`.
 */
export function defer(trx: Trx, statements: readonly Statement[]): Promise<void> {
  const queries = statements.map((statement) => statement.compile(trx))
  return onConnection(trx, async (connection) => connection.defer(queries))
}

/** Runs `work` after the commit; never if the transaction is rolled back. For counting, so it must not throw. */
export function onCommit(trx: Trx, work: () => void): Promise<void> {
  return onEnd(trx, (isCommitted) => {
    if (isCommitted) work()
  })
}

/**
 * Sends the statement like `defer`. Calls `work` after the commit with its rows, or with null after a rollback and after a
 * commit without an answer. `work` must not throw.
 */
export async function deferUntilEnd<Row>(
  trx: Trx,
  statement: Statement<Row>,
  work: (rows: Row[] | null) => void,
): Promise<void> {
  let found: Row[] | null = null
  const query = statement.compile(trx)
  await onConnection(trx, async (connection) =>
    connection.defer([query], (rows) => {
      found = rows as Row[]
    }),
  )
  await onEnd(trx, (isCommitted) => work(isCommitted ? found : null))
}

const onEnd = (trx: Trx, work: (isCommitted: boolean) => void): Promise<void> =>
  onConnection(trx, async (connection) => connection.onEnd(work))

/**
 * Sends the last statements of a transaction together with `commit`. Not for code that may run inside a larger transaction.
 */
export async function commitWith<const Statements extends readonly Statement[]>(
  trx: Trx,
  statements: Statements,
): Promise<RowsOf<Statements>> {
  const queries = statements.map((statement) => statement.compile(trx))
  return rowsOf<Statements>(await onConnection(trx, (connection) => connection.executeAndCommit(queries)))
}

/** Kysely knows connections only by their interface; driver.ts makes all of them. */
export const onConnection = <T>(db: Db, use: (connection: PipelineConnection) => Promise<T>): Promise<T> =>
  db.getExecutor().provideConnection((connection) => use(connection as PipelineConnection))

/** The type of a statement's rows is the one that it declares. */
const rowsOf = <Statements>(results: ReadonlyArray<QueryResult<unknown>>) =>
  results.map(({ rows }) => rows) as RowsOf<Statements>
