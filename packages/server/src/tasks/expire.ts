// Deletes rows that are kept for a limited time only.
import { sql } from 'kysely'
import type { Db } from '../db/pool.ts'

export async function expireIdempotencyKeys(db: Db): Promise<void> {
  await sql`delete from idempotency_keys where created_at < now() - interval '24 hours'`.execute(db)
}

export async function expireRateLimits(db: Db): Promise<void> {
  await sql`delete from rate_limits where expire < extract(epoch from now()) * 1000`.execute(db)
}

export async function expireSessions(db: Db): Promise<void> {
  await sql`delete from web_sessions where expires_at < now()`.execute(db)
  await sql`delete from sso_starts where expires_at < now()`.execute(db)
  await sql`delete from oauth_codes where expires_at < now()`.execute(db)
  await sql`delete from sign_in_links where expires_at < now()`.execute(db)
}

const batchSize = 1000

/** Deletes agents that have been gone for that many days. An agent that ran a job stays as long as the job. */
export async function expireAgents(db: Db, now: Date, days: number): Promise<void> {
  const before = new Date(now.getTime() - days * 24 * 60 * 60 * 1000).toISOString()
  for (let deleted = batchSize; deleted === batchSize;) {
    const { numAffectedRows } = await sql`
      delete from agents where id in (
        select a.id from agents a
        where a.connection_state in ('never_connected', 'disconnected', 'stopped', 'lost')
          and coalesce(a.disconnected_at, a.lost_at, a.created_at) < ${before}
          and not exists (select from jobs j where j.agent_id = a.id)
        limit ${batchSize})`.execute(db)
    deleted = Number(numAffectedRows ?? 0n)
  }
}
