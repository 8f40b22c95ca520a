// Leases for work that a worker must keep while it runs: ordered deliveries, hosted agents, image builds, git mirrors. A
// column of the row says until when a worker holds it. The worker renews the lease while it works; when the worker dies, the
// time passes and another worker claims the row. Statements that claim add `for update skip locked`.
import { once } from 'node:events'
import { sql, type RawBuilder } from 'kysely'

/** An ISO time, or an SQL expression such as `now()`. */
type Time = string | RawBuilder<unknown>

/** Whether no worker holds the row. */
export const isFree = (column: string, now: Time): RawBuilder<boolean> => sql`
  (${sql.ref(column)} is null or ${sql.ref(column)} <= ${now})`

/** The value of the column for a lease that begins now. */
export const leaseEnd = (now: Time, seconds: number): RawBuilder<string> => sql`
  ${now}::timestamptz + make_interval(secs => ${seconds})`

/** Renews a lease until `ended` is aborted, or until `renew` says that the lease is lost. */
export async function keepLease(
  ended: AbortSignal,
  everyMs: number,
  { renew, onLost }: { renew(): Promise<boolean>; onLost(): void },
): Promise<void> {
  for (;;) {
    await once(AbortSignal.any([ended, AbortSignal.timeout(everyMs)]), 'abort')
    if (ended.aborted) return
    // A database that does not answer for a moment is asked again before the lease ends.
    if (!(await renew().catch(() => true))) return onLost()
  }
}
