// SQL statements. Kysely compiles `sql` templates and its query builder each time they are used; `prepared` compiles once,
// which is worth it for statements of nearly every request.
import {
  CompiledQuery,
  createQueryId,
  PostgresQueryCompiler,
  type QueryResult,
  type RawBuilder,
} from 'kysely'
import type { Db } from './pool.ts'

/** Anything that `batch` can send: an `sql` template, a query of the query builder, a prepared statement. */
export interface Statement<Row = unknown> {
  compile(db: Db): CompiledQuery<Row>
}

/**
 * Calls `write` once, with `count` placeholders for the arguments. `write` may use each of them any number of times, as a
 * parameter of the statement only: reading a placeholder or converting it to text throws.
 */
export function prepared<Row, Args extends unknown[]>(
  write: (...args: Args) => RawBuilder<Row>,
  count = write.length,
): (...args: Args) => Statement<Row> & { execute(db: Db): Promise<QueryResult<Row>> } {
  let template: Template | undefined
  return (...args) => {
    const compile = (): CompiledQuery<Row> => {
      template ??= compileTemplate((placeholders) => write(...(placeholders as Args)), count)
      return CompiledQuery.raw(template.text, fill(template, args))
    }
    return { compile, execute: async (db) => db.executeQuery(compile()) }
  }
}

interface Template {
  text: string
  /** For each parameter of the statement: the index of its argument, or -1 for a constant. */
  argumentOf: readonly number[]
  constants: readonly unknown[]
}

function compileTemplate(write: (placeholders: unknown[]) => RawBuilder<unknown>, count: number): Template {
  const placeholders: unknown[] = Array.from({ length: count }, (_, index) => Symbol(`argument ${index}`))
  const { sql, parameters } = compileAlone(write(placeholders))
  const argumentOf = parameters.map((parameter) => placeholders.indexOf(parameter))
  return { text: sql, argumentOf, constants: parameters }
}

const fill = ({ argumentOf, constants }: Template, args: readonly unknown[]): unknown[] =>
  argumentOf.map((index, parameter) => (index === -1 ? constants[parameter] : args[index]))

/** The text of a statement does not depend on the database. */
export const compileAlone = (statement: RawBuilder<unknown>): CompiledQuery =>
  new PostgresQueryCompiler().compileQuery(statement.toOperationNode(), createQueryId())
