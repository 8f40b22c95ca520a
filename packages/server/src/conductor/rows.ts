// The mapping of the engine's rows to tables: field names, column names and types.
import { sql, type RawBuilder } from 'kysely'
import type { BuildRow, JobRow, StepRow } from '@millrace/engine/rows.ts'
import { prepared, type Statement } from '../db/statement.ts'

type ColumnTypes<Row> = { readonly [Field in keyof Row]: string }

const tally = {
  active: 'int',
  onAgent: 'int',
  hardFailed: 'int',
  promised: 'int',
  cutShort: 'int',
  waiting: 'int',
  wanted: 'int',
  failFast: 'int',
  manualPassed: 'int',
  manualFailed: 'int',
  manualRunning: 'int',
  jobs: 'int',
  uploads: 'int',
  impossible: 'int',
  everStarted: 'boolean',
  cancelRequested: 'boolean',
} as const

/** Counted under the build's lock, in build_tallies. */
export const tallyColumns: ColumnTypes<Pick<BuildRow, keyof typeof tally>> = tally

/** The visible state of a build, in builds. */
export const buildColumns: ColumnTypes<Omit<BuildRow, keyof typeof tally | 'id'>> = {
  state: 'text',
  blockedState: 'text',
  cancelReason: 'text',
  scheduledAt: 'timestamptz',
  startedAt: 'timestamptz',
  failingAt: 'timestamptz',
  finishedAt: 'timestamptz',
  workedSeconds: 'float8',
}

export const stepColumns: ColumnTypes<StepRow> = {
  id: 'uuid',
  kind: 'text',
  key: 'text',
  position: 'text',
  groupId: 'uuid',
  uploaderId: 'uuid',
  uploadPath: 'uuid[]',
  barrier: 'text',
  continueOnFailure: 'boolean',
  phase: 'text',
  missing: 'int',
  impossible: 'boolean',
  total: 'int',
  open: 'int',
  onAgent: 'int',
  broken: 'int',
  softFailed: 'int',
  hardFailed: 'int',
  canceled: 'int',
  timedOut: 'int',
  notRun: 'int',
  promised: 'int',
  unmet: 'int',
  held: 'int',
  failed: 'int',
  cut: 'int',
  tolerated: 'int',
  uploadsOpen: 'int',
  uploadsHeld: 'int',
  uploadsFailed: 'int',
  uploadsCut: 'int',
}

export const jobColumns: ColumnTypes<JobRow> = {
  id: 'uuid',
  stepId: 'uuid',
  kind: 'text',
  state: 'text',
  slot: 'int',
  policy: 'jsonb',
  concurrencyGroup: 'text',
  failFast: 'boolean',
  blockedState: 'text',
  unblockable: 'boolean',
  softFailed: 'boolean',
  cutShort: 'boolean',
  reason: 'text',
  exitStatus: 'int',
  signal: 'text',
  signalReason: 'text',
  promisedExitStatus: 'int',
  promisedAt: 'timestamptz',
  promisedHard: 'boolean',
  retriedInJobId: 'uuid',
  retryType: 'text',
  retrySourceJobId: 'uuid',
  retrySourceType: 'text',
  retriesCount: 'int',
  ruleUses: 'int[]',
  triggeredBuildId: 'uuid',
  unblockedBy: 'uuid',
  unblockedAt: 'timestamptz',
  createdAt: 'timestamptz',
  scheduledAt: 'timestamptz',
  runnableAt: 'timestamptz',
  startedAt: 'timestamptz',
  finishedAt: 'timestamptz',
}

/** `retriedInJobId` to `retried_in_job_id`. */
export const columnName = (field: string): string =>
  field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** `t.retried_in_job_id as "retriedInJobId", …` */
export const selectFields = (table: string, columns: object): RawBuilder<unknown> =>
  sql.join(
    Object.keys(columns).map((field) => sql`${sql.ref(`${table}.${columnName(field)}`)} as ${sql.id(field)}`),
    sql`, `,
  )

/** Returns a function that picks these fields of a row. */
export function picker<Row>(columns: ColumnTypes<Row>): (row: object) => Row {
  const fields = Object.keys(columns)
  return (row) => Object.fromEntries(fields.map((field) => [field, Reflect.get(row, field)])) as Row
}

/** Up to this many rows are sent as values, so that the planner knows their number. */
const mostValues = 4

/**
 * A statement that takes objects and sees them as rows called `name` with these fields. Few objects are sent as single
 * values, with a statement for each number of them; more are sent as one JSON value, for which the planner expects a
 * hundred rows. Every statement is prepared once.
 */
export function onRows<Args extends unknown[]>(
  name: string,
  types: object,
  write: (rows: RawBuilder<unknown>, ...args: Args) => RawBuilder<unknown>,
): (objects: readonly object[], ...args: Args) => Statement {
  const fields = Object.entries(types).map(([field, type]) => ({ field, type: String(type) }))
  const names = sql.raw(`${name} (${fields.map(({ field }) => `"${field}"`).join(', ')})`)
  const few = Array.from({ length: mostValues }, (_, index) => {
    const count = (index + 1) * fields.length
    return prepared(
      (...given: unknown[]) => {
        const typed = given.slice(0, count).map((value, at) => cast(value, fields[at % fields.length]?.type))
        const rows = Array.from({ length: index + 1 }, (_, row) =>
          typed.slice(row * fields.length, (row + 1) * fields.length),
        )
        const lines = rows.map((row) => sql`(${sql.join(row)})`)
        return write(sql`(values ${sql.join(lines)}) as ${names}`, ...(given.slice(count) as Args))
      },
      count + write.length - 1,
    )
  })
  const shape = sql.raw(`${name} (${fields.map(({ field, type }) => `"${field}" ${type}`).join(', ')})`)
  const many = prepared(
    (json: string, ...args: Args) => write(sql`jsonb_to_recordset(${json}::jsonb) as ${shape}`, ...args),
    write.length,
  )
  return (objects, ...args) => {
    const fewOfThem = few[objects.length - 1]
    if (fewOfThem === undefined) return many(JSON.stringify(objects), ...args)
    return fewOfThem(...objects.flatMap((object) => fields.map((field) => valueOf(object, field))), ...args)
  }
}

const cast = (value: unknown, type = 'text') => sql`${value}::${sql.raw(type)}`

/** The driver sends arrays as PostgreSQL arrays, so JSON is converted here. */
function valueOf(object: object, { field, type }: { field: string; type: string }): unknown {
  const value: unknown = Reflect.get(object, field) ?? null
  return type === 'jsonb' && value !== null ? JSON.stringify(value) : value
}
