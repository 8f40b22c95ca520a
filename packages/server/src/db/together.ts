// Statements of one transaction that do not need each other's answers, sent at once: one way to the database and back
// for all of them. PostgreSQL carries them out in their order, each seeing what those before it did; after one that
// fails, those behind it fail too.
import type { CompiledQuery, RawBuilder } from 'kysely'
import type { Trx } from './pool.ts'

export interface Statement {
  compile(trx: Trx): CompiledQuery
}

type Rows<S> = S extends RawBuilder<infer Row> ? Row[] : unknown[]

/** The rows of each. */
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
