// Statements of one transaction that do not need each other's answers, sent at once: one way to the database and back
// for all of them.
import type { CompiledQuery } from 'kysely'
import type { BatchConnection } from './driver.ts'
import type { Db, Trx } from './pool.ts'

export interface Statement<Row = unknown> {
  compile(db: Db): CompiledQuery<Row>
}

type Rows<S> = S extends Statement<infer Row> ? Row[] : never

/**
 * The rows of each. PostgreSQL carries them out in their order, each seeing what those before it did; where one fails,
 * all fail.
 */
export async function together<const Statements extends readonly Statement[]>(
  trx: Trx,
  statements: Statements,
): Promise<{ [Index in keyof Statements]: Rows<Statements[Index]> }> {
  const queries = statements.map((statement) => statement.compile(trx))
  const results = await onConnection(trx, (connection) => connection.executeTogether(queries))
  // Which rows a statement gives is what it says of itself.
  return results.map(({ rows }) => rows) as { [Index in keyof Statements]: Rows<Statements[Index]> }
}

/** Sent with whatever the transaction sends next, at the latest its `commit`, which fails if one of them does. */
export const later = (trx: Trx, statements: readonly Statement[]): Promise<void> => {
  const queries = statements.map((statement) => statement.compile(trx))
  return onConnection(trx, async (connection) => connection.executeLater(queries))
}

/** Transactions are made by driver.ts alone. */
const onConnection = <T>(trx: Trx, use: (connection: BatchConnection) => Promise<T>): Promise<T> =>
  trx.getExecutor().provideConnection((connection) => use(connection as BatchConnection))
