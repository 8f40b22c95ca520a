// For what is asked with nearly every request: the statement is put together once, not each time.
import { CompiledQuery, type RawBuilder } from 'kysely'
import type { Db } from './pool.ts'

/** `write` must use every argument once, in their order, as a parameter. */
export function prepared<Row, Args extends readonly unknown[]>(
  write: (...args: Args) => RawBuilder<Row>,
): (db: Db, ...args: Args) => Promise<Row[]> {
  let text: string | undefined
  return async (db, ...args) => {
    text ??= compile(db, write(...args), args)
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(text, [...args]))
    return rows
  }
}

function compile<Row>(db: Db, statement: RawBuilder<Row>, args: readonly unknown[]): string {
  const { sql, parameters } = statement.compile(db)
  if (parameters.length !== args.length || parameters.some((parameter, at) => parameter !== args[at])) {
    throw new Error(`A prepared statement must take its arguments in order: ${sql}`)
  }
  return sql
}
