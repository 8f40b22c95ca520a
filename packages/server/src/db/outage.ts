// Logs once when the database becomes unavailable and once when it is back, however many connections and callers fail.
import type { Logger } from 'pino'
import { isDatabaseAway } from './away.ts'

/** A read-only database still answers reads, so it counts as back only after so long without a failure. */
const quietMs = 5000

interface Outage {
  startedAt: number
  lastFailureAt: number
  failures: number
}

export class OutageWatch {
  private outage: Outage | null = null
  private log: Pick<Logger, 'warn'> | null = null
  private begun = 0

  get isAway(): boolean {
    return this.outage !== null
  }

  /** How often the database became unavailable. */
  get count(): number {
    return this.begun
  }

  /** null: log nothing, because the database is being closed. */
  reportTo(log: Pick<Logger, 'warn'> | null): void {
    this.log = log
  }

  /** Takes the outcome of every statement: an error, or nothing. */
  note(error: unknown): void {
    if (!error) this.noteAnswer()
    else if (isDatabaseAway(error)) this.noteFailure(error)
  }

  private noteAnswer(): void {
    if (this.outage === null || performance.now() - this.outage.lastFailureAt < quietMs) return
    const { startedAt, lastFailureAt, failures } = this.outage
    this.outage = null
    const seconds = Math.round((lastFailureAt - startedAt) / 1000)
    this.log?.warn({ failures, seconds }, 'The database can be used again.')
  }

  private noteFailure(error: unknown): void {
    const now = performance.now()
    if (this.outage === null) {
      this.outage = { startedAt: now, lastFailureAt: now, failures: 1 }
      this.begun += 1
      this.log?.warn(
        { reason: error instanceof Error ? error.message : String(error) },
        'The database cannot be used. Requests are answered with 503 until it can.',
      )
    } else {
      this.outage.lastFailureAt = now
      this.outage.failures += 1
    }
  }
}
