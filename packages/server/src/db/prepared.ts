// For what is asked with nearly every request: the statement is put together once, not each time, and outside of a
// transaction goes straight to the driver.
import { CompiledQuery, type RawBuilder } from 'kysely'
import { poolOf, type Db } from './pool.ts'
import type { Statement } from './together.ts'

/** `write` must use every argument once, in their order, as a parameter. */
export function prepared<Row, Args extends unknown[]>(
  write: (...args: Args) => RawBuilder<Row>,
): (db: Db, ...args: Args) => Promise<Row[]> {
  let text: string | undefined
  return async (db, ...args) => {
    text ??= compile(db, write(...args), args)
    const pool = poolOf(db)
    const { rows } =
      pool === undefined
        ? await db.executeQuery<Row>(CompiledQuery.raw(text, args))
        : await pool.query(text, [...args])
    return rows
  }
}

/** The same as a statement, to be sent together with others. */
export function preparedStatement<Row, Args extends unknown[]>(
  write: (...args: Args) => RawBuilder<Row>,
): (...args: Args) => Statement<Row> {
  let text: string | undefined
  return (...args) => ({
    compile(db) {
      text ??= compile(db, write(...args), args)
      return CompiledQuery.raw(text, [...args])
    },
  })
}

function compile<Row>(db: Db, statement: RawBuilder<Row>, args: readonly unknown[]): string {
  const { sql, parameters } = statement.compile(db)
  if (parameters.length !== args.length || parameters.some((parameter, at) => parameter !== args[at])) {
    throw new Error(`A prepared statement must take its arguments in order: ${sql}`)
  }
  return sql
}
