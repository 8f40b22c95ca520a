// Handles the rows of several organizations so that no row stops the others. A row that fails is remembered in `failed_rows`,
// where all replicas see it, and is tried less and less often until it succeeds. If the database cannot be used, no row has
// failed: the error goes to the caller, and nothing is remembered.
import { sql, type RawBuilder } from 'kysely'
import pg from 'pg'
import type { Logger } from 'pino'
import { isDatabaseAway } from './away.ts'
import type { Tables } from './generated/tables.ts'
import type { Db } from './pool.ts'
import { inSavepoint, isOpen } from './transaction.ts'
import type { Metrics } from '../lib/metrics.ts'
import type { Loop } from './loops.ts'

/** `db` may be a transaction: each row then has a savepoint, and is remembered when the transaction commits. */
export interface LoopContext {
  db: Db
  log: Logger
  now(): Date
  metrics: Pick<Metrics, 'failedRows'>
}

type Work<Row> = (rows: readonly Row[]) => Promise<unknown>

interface Options<Row> {
  /** Rows of a group are handled in the order given: later ones wait for one that fails, for some minutes at most. */
  groupOf?(row: Row): string | null
  /** Whether a system that all rows need cannot be used, besides the database. */
  isOutage?(error: unknown): boolean
}

/** So many failures in one run are no longer a matter of single rows. The others wait for the next run. */
const mostFailures = 50
const firstPauseSeconds = 5
const longestPauseSeconds = 3600

/** Handles one row after the other. Returns how many of them have failed, now or before. */
export function eachRowApart<Row>(
  ctx: LoopContext,
  loop: Loop,
  rows: readonly Row[],
  idOf: (row: Row) => string,
  work: (row: Row) => Promise<unknown>,
  options: Options<Row> = {},
): Promise<number> {
  return new Run(ctx, loop, idOf, options).handle(rows, 1, async ([row]) => {
    if (row !== undefined) await work(row)
  })
}

/**
 * Handles all rows together. When that fails, it handles each half, until the rows that fail are alone. Rows that have failed
 * before are handled alone. Returns how many rows have failed, now or before.
 */
export function eachBatchApart<Row>(
  ctx: LoopContext,
  loop: Loop,
  rows: readonly Row[],
  idOf: (row: Row) => string,
  work: Work<Row>,
  options: Options<Row> = {},
): Promise<number> {
  return new Run(ctx, loop, idOf, options).handle(rows, rows.length, work)
}

/** Rows that are deleted, or updated. */
export interface RowChange {
  /** As `r` in the parts below. */
  table: keyof Tables
  /** The primary key. */
  key: RawBuilder<unknown>
  where: RawBuilder<unknown>
  /** Absent: the rows are deleted. */
  set?: RawBuilder<unknown>
}

const changedAtOnce = 1000

/**
 * Changes rows of all organizations, many with one statement, until none is left but those that have failed. Returns how many it
 * changed.
 */
export async function changeRows(ctx: LoopContext, loop: Loop, change: RowChange): Promise<number> {
  const { key, where, set } = change
  const table = sql`${sql.table(change.table)} as r`
  const id = sql`(${key})::text`
  for (let changed = 0; ;) {
    const { rows } = await sql<{ id: string; at: string }>`
      select ${id} as id, r.ctid::text as at from ${table}
      where ${where} and ${mayBeTried(loop, id, ctx.now().toISOString())} limit ${changedAtOnce}`.execute(
      ctx.db,
    )
    await eachBatchApart(
      ctx,
      loop,
      rows,
      (row) => row.id,
      async (some) => {
        // A row that has changed since is elsewhere, and is found by the next select.
        const isListed = sql`r.ctid = any (${some.map(({ at }) => at)}::tid[]) and ${where}`
        const statement =
          set === undefined
            ? sql`delete from ${table} where ${isListed}`
            : sql`update ${table} set ${set} where ${isListed}`
        changed += Number((await statement.execute(ctx.db)).numAffectedRows ?? 0)
      },
    )
    if (rows.length < changedAtOnce) return changed
  }
}

/**
 * For writes that happen every second: like `eachBatchApart`, but it asks for rows that have failed only at first and after a
 * failure, until none is left.
 */
export function togetherOrApart<Row>(ctx: LoopContext, loop: Loop) {
  let isApart = true
  return async (rows: readonly Row[], idOf: (row: Row) => string, work: Work<Row>): Promise<void> => {
    if (!isApart) {
      try {
        await work(rows)
        return
      } catch (error) {
        if (isDatabaseAway(error)) throw error
      }
    }
    await eachBatchApart(ctx, loop, rows, idOf, work)
    isApart = await hasFailed(ctx.db, loop)
  }
}

async function hasFailed(db: Db, loop: Loop): Promise<boolean> {
  const { rows } = await sql`select from failed_rows where loop = ${loop} limit 1`.execute(db)
  return rows.length > 0
}

/**
 * A condition that the row does not wait for its next attempt. For queries with a limit, which rows that fail would fill, and
 * for those that only ask whether there is work. `id` is the text that `idOf` returns.
 */
export const mayBeTried = (
  loop: Loop,
  id: RawBuilder<unknown>,
  at: string | RawBuilder<unknown> = sql`now()`,
): RawBuilder<boolean> => sql`
  not exists (select from failed_rows f where f.loop = ${sql.lit(loop)} and f.row_id = ${id} and f.next_try_at > ${at})`

/** The ids of rows to be tried again, for loops that would not find them by themselves. */
export async function listToTryAgain(
  { db, now }: Pick<LoopContext, 'db' | 'now'>,
  loop: Loop,
  most: number,
): Promise<string[]> {
  const { rows } = await sql<{ row_id: string }>`
    select row_id from failed_rows where loop = ${loop} and next_try_at <= ${now().toISOString()}
    order by next_try_at, row_id limit ${most}`.execute(db)
  return rows.map(({ row_id: id }) => id)
}

/** Whether `listToTryAgain` would find any. */
export const hasToTryAgain = (loop: Loop, at: RawBuilder<unknown> = sql`now()`): RawBuilder<boolean> => sql`
  exists (select from failed_rows f where f.loop = ${sql.lit(loop)} and f.next_try_at <= ${at})`

/** For rows that succeeded, or that are gone. */
export async function forgetRows(db: Db, loop: Loop, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await sql`delete from failed_rows where loop = ${loop} and row_id = any (${ids}::text[])`.execute(db)
}

/** After so many attempts the later rows of its group no longer wait for a row. */
const holdingAttempts = 5
const isHolding = (attempts: number) => attempts > 0 && attempts < holdingAttempts

/** Deadlocks and serialization failures. Outside of a savepoint they end the whole transaction, which is then repeated. */
const isConflict = (error: unknown) =>
  error instanceof pg.DatabaseError && (error.code === '40P01' || error.code === '40001')

interface Failed {
  id: string
  group: string | null
  attempts: number
  isDue: boolean
}

class Run<Row> {
  private readonly ctx: LoopContext
  private readonly loop: Loop
  private readonly idOf: (row: Row) => string
  private readonly options: Options<Row>
  /** Groups whose rows wait for an earlier one. */
  private readonly held = new Set<string>()
  private failures = 0
  private handled = 0

  constructor(ctx: LoopContext, loop: Loop, idOf: (row: Row) => string, options: Options<Row>) {
    this.ctx = ctx
    this.loop = loop
    this.idOf = idOf
    this.options = options
  }

  async handle(rows: readonly Row[], atOnce: number, work: Work<Row>): Promise<number> {
    if (rows.length === 0) return 0
    const failed = new Map((await this.listFailed(rows)).map((one) => [one.id, one]))
    for (const { group, attempts, isDue } of failed.values())
      if (group !== null && !isDue && isHolding(attempts)) this.held.add(group)
    const again = rows.filter((row) => failed.get(this.idOf(row))?.isDue === true)
    const healthy = rows.filter((row) => !failed.has(this.idOf(row)))
    // Rows of a group are tried in order. Others are handled before those that have failed.
    const isOrdered = this.options.groupOf !== undefined
    if (isOrdered) await this.tryAgain(again, work)
    for (let from = 0; from < healthy.length; from += atOnce)
      await this.split(healthy.slice(from, from + atOnce), work)
    if (!isOrdered) await this.tryAgain(again, work)
    return rows.length - this.handled
  }

  private async tryAgain(rows: readonly Row[], work: Work<Row>): Promise<void> {
    for (const row of rows) {
      const isHeld = (await this.hold([row])).length === 0
      if (!isHeld && (await this.succeeds([row], work)))
        await forgetRows(this.ctx.db, this.loop, [this.idOf(row)])
    }
  }

  private async split(given: readonly Row[], work: Work<Row>): Promise<void> {
    const rows = await this.hold(given)
    if (rows.length === 0 || (await this.succeeds(rows, work)) || rows.length === 1) return
    const middle = Math.ceil(rows.length / 2)
    await this.split(rows.slice(0, middle), work)
    await this.split(rows.slice(middle), work)
  }

  /** A row that fails alone is remembered. */
  private async succeeds(rows: readonly Row[], work: Work<Row>): Promise<boolean> {
    const { db } = this.ctx
    try {
      if (isOpen(db)) await inSavepoint(db, () => work(rows))
      else await work(rows)
      this.handled += rows.length
      return true
    } catch (error) {
      const { isOutage = () => false } = this.options
      if (isDatabaseAway(error) || isOutage(error) || (isOpen(db) && isConflict(error))) throw error
      const [row, ...others] = rows
      if (row === undefined || others.length > 0) return false
      await this.remember(row, error)
      // What is remembered in a transaction would be rolled back with it.
      if (++this.failures >= mostFailures && !isOpen(db)) throw error
      return false
    }
  }

  /** Returns the rows that need not wait for an earlier one of their group. */
  private async hold(rows: readonly Row[]): Promise<readonly Row[]> {
    const { groupOf } = this.options
    if (groupOf === undefined || this.held.size === 0) return rows
    const isHeld = (row: Row) => this.held.has(groupOf(row) ?? '')
    for (const row of rows.filter(isHeld)) await this.insertFailed(row, 0, 'It waits for an earlier one.')
    return rows.filter((row) => !isHeld(row))
  }

  /** Those of the rows, and those of their groups. */
  private async listFailed(rows: readonly Row[]): Promise<Failed[]> {
    const { db, now } = this.ctx
    const { groupOf = () => null } = this.options
    const groups = [...new Set(rows.flatMap((row) => groupOf(row) ?? []))]
    const { rows: failed } = await sql<Failed>`
      select row_id as id, group_id as "group", attempts, next_try_at <= ${now().toISOString()} as "isDue" from failed_rows
      where loop = ${this.loop}
        and (row_id = any (${rows.map(this.idOf)}::text[]) or group_id = any (${groups}::text[]))`.execute(db)
    return failed
  }

  private async remember(row: Row, error: unknown): Promise<void> {
    const { log, metrics } = this.ctx
    const [loop, id] = [this.loop, this.idOf(row)]
    const attempts = await this.insertFailed(row, 1, error instanceof Error ? error.message : String(error))
    metrics.failedRows.inc({ loop })
    log.error(
      { err: error, loop, row_id: id, attempts },
      'A row could not be handled. The others go on, and this one is tried again later.',
    )
    const group = this.options.groupOf?.(row) ?? null
    if (group !== null && isHolding(attempts)) this.held.add(group)
  }

  /** Returns how often the row has failed. */
  private async insertFailed(row: Row, attempts: 0 | 1, error: string): Promise<number> {
    const at = this.ctx.now().toISOString()
    const group = this.options.groupOf?.(row) ?? null
    const pauses = { first: sql.lit(firstPauseSeconds), longest: sql.lit(longestPauseSeconds) }
    // A row that only waits for another one is tried again as soon as that one may be.
    const next =
      attempts === 0
        ? pauses.first
        : sql`least(${pauses.longest}, ${pauses.first} * 2 ^ least(f.attempts, 20))`
    const { rows } = await sql<{ attempts: number }>`
      insert into failed_rows as f
        (loop, row_id, group_id, attempts, first_failed_at, last_failed_at, next_try_at, error)
      values (${this.loop}, ${this.idOf(row)}, ${group}, ${attempts}, ${at}, ${at},
        ${at}::timestamptz + make_interval(secs => ${pauses.first}), ${error.slice(0, 2000)})
      on conflict (loop, row_id) do update set attempts = f.attempts + excluded.attempts,
        last_failed_at = excluded.last_failed_at, error = excluded.error,
        next_try_at = ${at}::timestamptz + make_interval(secs => ${next})
      returning attempts`.execute(this.ctx.db)
    return rows[0]?.attempts ?? 1
  }
}
