// When time itself becomes an event for a job. The deadline is kept in the job's row and moves with its state.
import { sql, type RawBuilder } from 'kysely'
import type { Timers } from '../config.ts'

/** How long an agent that accepted a job may take to start it. */
export const startSeconds = 120

/** How long a job stays set aside for a stack that does not say how long it needs. */
export const reservationSeconds = 900

/** How long jobs of a build may take for what. */
export const waits = (timers: Timers, expiryMinutes: number | null): Waits => [
  expiryMinutes ?? timers.jobExpiryDays * 24 * 60,
  timers.acceptSeconds,
  timers.cancelGraceSeconds,
]

export type Waits = [expiryMinutes: number, acceptSeconds: number, cancelGraceSeconds: number]

/** The deadline of a job that enters `state` at `at`; null where nothing is awaited. `job` is the row's alias. */
export function deadline(
  [expiryMinutes, acceptSeconds, cancelGraceSeconds]: Waits,
  at: string,
  state: RawBuilder<unknown>,
  job: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`case ${state}
    when 'scheduled' then ${job}.created_at + make_interval(mins => ${expiryMinutes})
    when 'reserved' then ${after(at, reservationSeconds)}
    when 'assigned' then ${after(at, acceptSeconds)}
    when 'accepted' then ${after(at, startSeconds)}
    when 'running' then ${at}::timestamptz + make_interval(mins => ${job}.timeout_minutes)
    when 'canceling' then ${after(at, cancelGraceSeconds)}
    when 'timing_out' then ${after(at, cancelGraceSeconds)}
  end`
}

export const after = (at: string, seconds: number): RawBuilder<unknown> =>
  sql`${at}::timestamptz + make_interval(secs => ${seconds})`
