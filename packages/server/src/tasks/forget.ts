// Rows that have served their time.
import { sql } from 'kysely'
import type { Db } from '../db/pool.ts'

export async function forgetIdempotencyKeys(db: Db): Promise<void> {
  await sql`delete from idempotency_keys where created_at < now() - interval '24 hours'`.execute(db)
}

export async function forgetRateLimits(db: Db): Promise<void> {
  await sql`delete from rate_limits where expire < extract(epoch from now()) * 1000`.execute(db)
}

export async function forgetSessions(db: Db): Promise<void> {
  await sql`delete from web_sessions where expires_at < now()`.execute(db)
}

const mostAgents = 1000

/** Agents that have been gone for so long. Whoever ran a job stays, so that the job can say where it ran. */
export async function forgetAgents(db: Db, now: Date, days: number): Promise<void> {
  const before = new Date(now.getTime() - days * 24 * 60 * 60 * 1000).toISOString()
  for (let forgotten = mostAgents; forgotten === mostAgents;) {
    const { numAffectedRows } = await sql`
      delete from agents where id in (
        select a.id from agents a
        where a.connection_state in ('never_connected', 'disconnected', 'stopped', 'lost')
          and coalesce(a.disconnected_at, a.lost_at, a.created_at) < ${before}
          and not exists (select from jobs j where j.agent_id = a.id)
        limit ${mostAgents})`.execute(db)
    forgotten = Number(numAffectedRows ?? 0n)
  }
}
