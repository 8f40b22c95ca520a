// Rows that have served their time.
import { sql } from 'kysely'
import type { Db } from '../db/pool.ts'

export async function forgetIdempotencyKeys(db: Db): Promise<void> {
  await sql`delete from idempotency_keys where created_at < now() - interval '24 hours'`.execute(db)
}

export async function forgetRateLimits(db: Db): Promise<void> {
  await sql`delete from rate_limits where expire < extract(epoch from now()) * 1000`.execute(db)
}
