// How the engine's rows lie in tables: the engine's field names, the columns' names and types.
import { sql, type RawBuilder } from 'kysely'
import type { BuildRow, JobRow, StepRow } from '@millrace/engine/rows.ts'
import { preparedStatement } from '../db/prepared.ts'
import type { Statement } from '../db/together.ts'

export type ColumnTypes<Row> = { readonly [Field in keyof Row]: string }

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

/** What people see of a build's progress, in builds. */
export const buildColumns: ColumnTypes<Omit<BuildRow, keyof typeof tally | 'id'>> = {
  state: 'text',
  blockedState: 'text',
  cancelReason: 'text',
  scheduledAt: 'timestamptz',
  startedAt: 'timestamptz',
  failingAt: 'timestamptz',
  finishedAt: 'timestamptz',
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

/** `t.retried_in_job_id as "retriedInJobId", …`; `prefix` stands before the name. */
export const selectFields = (table: string, columns: object, prefix = ''): RawBuilder<unknown> =>
  sql.join(
    Object.keys(columns).map(
      (field) => sql`${sql.ref(`${table}.${columnName(field)}`)} as ${sql.id(prefix + field)}`,
    ),
    sql`, `,
  )

/** Takes the fields out of such a row that were selected with the prefix. */
export function picker<Row>(columns: ColumnTypes<Row>, prefix = ''): (row: object) => Row {
  const pairs = Object.keys(columns).map((field) => [field, prefix + field] as const)
  return (row) => {
    const picked = {}
    for (const [field, selected] of pairs) Reflect.set(picked, field, Reflect.get(row, selected))
    return picked as Row
  }
}

/** `"retriedInJobId" uuid, …`: the engine's rows as they come, read from JSON. */
export const typedFields = (columns: object, fields: readonly string[] = Object.keys(columns)): string =>
  fields.map((field) => `"${field}" ${String(Reflect.get(columns, field))}`).join(', ')

/**
 * A statement on objects, which it finds as rows of the shape. Of one row the planner knows that it is one, and looks
 * for what belongs to it in an index; of several it expects a hundred. So it is written twice, each once and for all.
 */
export function onRows<Args extends unknown[]>(
  shape: string,
  write: (rows: RawBuilder<unknown>, ...args: Args) => RawBuilder<unknown>,
): (objects: readonly object[], ...args: Args) => Statement {
  const from = (read: string) =>
    preparedStatement(
      (json: string, ...args: Args) =>
        write(sql`${sql.raw(read)}(${json}::jsonb) as ${sql.raw(shape)}`, ...args),
      write.length,
    )
  const one = from('jsonb_to_record')
  const many = from('jsonb_to_recordset')
  return (objects, ...args) =>
    objects.length === 1 ? one(JSON.stringify(objects[0]), ...args) : many(JSON.stringify(objects), ...args)
}
