import { dropPartitions } from '../db/partitions.ts'
import type { Db } from '../db/pool.ts'

/** The table refuses to delete rows, so audit events go only month by month. */
export async function expireAuditEvents(db: Db, now: Date, days: number): Promise<void> {
  await dropPartitions(db, 'audit_events', new Date(now.getTime() - days * 24 * 60 * 60 * 1000))
}
