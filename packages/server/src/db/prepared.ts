// For what is asked with nearly every request: the statement is put together once, not each time, and outside of a
// transaction goes straight to the driver.
import { CompiledQuery, createQueryId, PostgresQueryCompiler, type RawBuilder } from 'kysely'
import { waysOf, type Db } from './pool.ts'
import type { Statement } from './together.ts'

/**
 * `write` is called once and sees stand-ins, not values, `count` of them. It may put each into the statement as often as
 * it likes, as a parameter; looking at one, or making a text of it, throws.
 */
export function prepared<Row, Args extends unknown[]>(
  write: (...args: Args) => RawBuilder<Row>,
  count = write.length,
): (db: Db, ...args: Args) => Promise<Row[]> {
  return asking('pool', write, count)
}

/**
 * The same for what reads a few rows, a page at most, and locks none of them: outside of a transaction it shares a
 * connection with others that do.
 */
export function lookup<Row, Args extends unknown[]>(
  write: (...args: Args) => RawBuilder<Row>,
): (db: Db, ...args: Args) => Promise<Row[]> {
  return asking('shared', write, write.length)
}

function asking<Row, Args extends unknown[]>(
  way: 'pool' | 'shared',
  write: (...args: Args) => RawBuilder<Row>,
  count: number,
): (db: Db, ...args: Args) => Promise<Row[]> {
  const statement = once(() => writeOut(write, count))
  return async (db, ...args) => {
    const { text, valuesOf } = statement()
    const values = valuesOf(args)
    const ways = waysOf(db)
    if (ways === undefined) return (await db.executeQuery<Row>(CompiledQuery.raw(text, values))).rows
    try {
      return (await ways[way].query(text, values)).rows
    } catch (error) {
      // Until here its stack leads to the socket; from here it leads to who asked.
      if (error instanceof Error) Error.captureStackTrace(error)
      throw error
    }
  }
}

/** The same with arguments by their names: every time the same ones. */
export function preparedByName<Row, Args extends object>(
  write: (args: Args) => RawBuilder<Row>,
): (db: Db, args: Args) => Promise<Row[]> {
  let names: string[] | undefined
  let ask: ((db: Db, ...values: unknown[]) => Promise<Row[]>) | undefined
  return (db, args) => {
    const given = (names ??= Object.keys(args))
    const standing = (standIns: unknown[]) =>
      Object.fromEntries(given.map((name, index) => [name, standIns[index]]))
    ask ??= prepared((...standIns: unknown[]) => write(standing(standIns) as Args), given.length)
    return ask(db, ...given.map((name): unknown => Reflect.get(args, name)))
  }
}

/** The same as a statement, to be sent together with others. */
export function preparedStatement<Row, Args extends unknown[]>(
  write: (...args: Args) => RawBuilder<Row>,
  count = write.length,
): (...args: Args) => Statement<Row> {
  const statement = once(() => writeOut(write, count))
  return (...args) => ({
    compile() {
      const { text, valuesOf } = statement()
      return CompiledQuery.raw(text, valuesOf(args))
    },
  })
}

interface WrittenOut<Args> {
  text: string
  /** In the order of the statement's parameters. */
  valuesOf(args: Args): unknown[]
}

function writeOut<Args extends unknown[]>(
  write: (...args: Args) => RawBuilder<unknown>,
  count: number,
): WrittenOut<Args> {
  const standIns = Array.from({ length: count }, (_, at) => Symbol(`argument ${at}`))
  const { text, parameters } = textOf(write(...(standIns as unknown[] as Args)))
  const places = parameters.map((parameter) => standIns.indexOf(parameter as symbol))
  return {
    text,
    valuesOf: (args) => places.map((at, index) => (at === -1 ? parameters[index] : args[at])),
  }
}

/** What the query builder makes of it, whichever database it will be sent to. */
export function textOf(statement: RawBuilder<unknown>): { text: string; parameters: readonly unknown[] } {
  const { sql, parameters } = new PostgresQueryCompiler().compileQuery(
    statement.toOperationNode(),
    createQueryId(),
  )
  return { text: sql, parameters }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
