// JSON that PostgreSQL writes as text, for long lists. One `concat` per object: row_to_json and
// json_build_object look up the type of every column of every row, and take twice as long.
import { sql, type RawBuilder } from 'kysely'
import { compileAlone } from './statement.ts'

/** An expression that gives JSON as text, and is never null. */
export type JsonText = RawBuilder<string>

type Value = RawBuilder<unknown>

/** Any text. */
export const text = (value: Value): JsonText => sql`coalesce(to_json(${value})::text, 'null')`

/** Text without characters that JSON escapes: ids, states, URLs made of slugs. */
export const word = (value: Value): JsonText => sql`coalesce('"' || ${value} || '"', 'null')`

/** Escapes a constant for use inside a word. */
export const escaped = (ours: string): string => JSON.stringify(ours).slice(1, -1)

/** Numbers, booleans and JSON values. */
export const bare = (value: Value): JsonText => sql`coalesce((${value})::text, 'null')`

/**
 * As iso() writes it. Columns keep milliseconds and sessions run in UTC; the microsecond makes PostgreSQL write
 * every digit, of which those beyond the milliseconds are then cut off.
 */
export const time = (value: Value): JsonText => {
  const digits = sql`left((${value}::timestamp + interval '1 microsecond')::text, 23)`
  return sql`coalesce('"' || replace(${digits}, ' ', 'T') || 'Z"', 'null')`
}

/** null if the condition is false or the value is null. */
export const where = (condition: Value, value: RawBuilder<string | null>): JsonText =>
  sql`coalesce(case when ${condition} then ${value} end, 'null')`

/** A field that exists only if the condition is true; for the last arguments of object(). */
export const fieldWhere = (condition: Value, name: string, value: JsonText): JsonText =>
  sql`case when ${condition} then ${sql.lit(`,"${name}":`)} || ${value} else '' end`

export function object(fields: Record<string, JsonText>, ...more: readonly JsonText[]): JsonText {
  const pieces = Object.entries(fields).flatMap(([name, value], index) => [
    sql`${sql.lit(`${index === 0 ? '{' : ','}"${name}":`)}`,
    value,
  ])
  return concat([...pieces, ...more, sql`'}'`])
}

/** Compiles an expression without parameters once, so that statements with it compile faster. */
export function written(value: JsonText): JsonText {
  const { sql: text, parameters } = compileAlone(value)
  if (parameters.length > 0) throw new Error(`JSON text with a parameter in it: ${text}`)
  return sql.raw(text)
}

// A function takes at most 100 arguments.
const mostArguments = 90

function concat(pieces: readonly RawBuilder<unknown>[]): JsonText {
  const rest = pieces.slice(mostArguments)
  const own = pieces.slice(0, mostArguments)
  return sql`concat(${sql.join(rest.length > 0 ? [...own, concat(rest)] : own)})`
}
