import type pg from 'pg'
import { errorCode } from '../db/embedded/startup-error.ts'

/** A database of an earlier release has no column for it, and a standby takes no writes. The backup is good all the same. */
const unwritable = new Set(['42703', '42P01', '25006'])

/** For the page of the installation. */
export async function recordBackup(pool: pg.Pool, bytes: number): Promise<void> {
  try {
    await pool.query('update installation set last_backup_at = now(), last_backup_bytes = $1', [bytes])
  } catch (error) {
    if (!unwritable.has(errorCode(error))) throw error
  }
}
