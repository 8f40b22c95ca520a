// Statements of one transaction that do not need each other's answers, sent at once: one way to the database and back
// for all of them.
import type { CompiledQuery } from 'kysely'
import type { Db, Trx } from './pool.ts'

export interface Statement<Row = unknown> {
  compile(db: Db): CompiledQuery<Row>
}

type Rows<S> = S extends Statement<infer Row> ? Row[] : never

/**
 * The rows of each. PostgreSQL carries them out in their order, each seeing what those before it did; after one that
 * fails, those behind it fail too.
 */
export async function together<const Statements extends readonly Statement[]>(
  trx: Trx,
  statements: Statements,
): Promise<{ [Index in keyof Statements]: Rows<Statements[Index]> }> {
  const queries = statements.map((statement) => statement.compile(trx))
  const results = await trx
    .getExecutor()
    .provideConnection((connection) => Promise.all(queries.map((query) => connection.executeQuery(query))))
  // Which rows a statement gives is what it says of itself.
  return results.map(({ rows }) => rows) as { [Index in keyof Statements]: Rows<Statements[Index]> }
}
