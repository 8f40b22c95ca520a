// Deadlines of jobs. The deadline is in the job's row and changes with its state.
import { sql, type RawBuilder } from 'kysely'
import type { JobState } from '@millrace/engine/states.ts'
import type { Timers } from '../config/timers.ts'

/** How long an agent that accepted a job may take to start it. */
export const startSeconds = 120

/** How long a job stays reserved for a stack that does not say how long it needs. */
export const reservationSeconds = 900

/** The default limits; organizations may set how long their jobs may wait for an agent. */
export const waits = (timers: Timers): Waits => [
  timers.jobExpiryDays * 24 * 60,
  timers.acceptSeconds,
  timers.cancelGraceSeconds,
  timers.jobDays * 24 * 60,
]

export type Waits = [
  expiryMinutes: number,
  acceptSeconds: number,
  cancelGraceSeconds: number,
  runningMinutes: number,
]

export interface Entering {
  at: string
  waits: Waits
  /** The alias of the job's row. */
  job: RawBuilder<unknown>
}

/** The deadline of a job that enters this state; null where it has none. */
export const deadlineIn = (state: JobState, entering: Entering): RawBuilder<unknown> =>
  deadlines(entering)[state] ?? sql`null`

/** The same for a state in a row. */
export function deadline(state: RawBuilder<unknown>, entering: Entering): RawBuilder<unknown> {
  const cases = Object.entries(deadlines(entering)).map(([name, at]) => sql`when ${sql.lit(name)} then ${at}`)
  return sql`case ${state} ${sql.join(cases, sql` `)} end`
}

const deadlines = ({
  at,
  waits: [expiryMinutes, acceptSeconds, cancelGraceSeconds, runningMinutes],
  job,
}: Entering): Partial<Record<JobState, RawBuilder<unknown>>> => ({
  scheduled: sql`${job}.created_at + make_interval(mins => coalesce((
    select o.scheduled_job_expiry_in_minutes from organization_pipeline_settings o
    where o.organization_id = ${job}.organization_id), ${expiryMinutes}))`,
  reserved: after(at, reservationSeconds),
  assigned: after(at, acceptSeconds),
  accepted: after(at, startSeconds),
  running: sql`${at}::timestamptz + make_interval(mins => coalesce(${job}.timeout_minutes, ${runningMinutes}))`,
  canceling: after(at, cancelGraceSeconds),
  timing_out: after(at, cancelGraceSeconds),
})

export const after = (at: string, seconds: number): RawBuilder<unknown> =>
  sql`${at}::timestamptz + make_interval(secs => ${seconds})`
