// Deletes rows that are kept for a limited time only.
import { sql } from 'kysely'
import { changeRows, type LoopContext } from '../db/each-row.ts'
import { replayed } from '../db/loops.ts'

export const expireIdempotencyKeys = (ctx: LoopContext): Promise<number> =>
  changeRows(ctx, 'idempotency_keys', {
    table: 'idempotency_keys',
    key: sql`r.user_id, r.key`,
    where: sql`r.created_at < now() - interval '24 hours'`,
  })

export const expireRateLimits = (ctx: LoopContext): Promise<number> =>
  changeRows(ctx, 'rate_limits', {
    table: 'rate_limits',
    key: sql`r.key`,
    where: sql`r.expire < extract(epoch from now()) * 1000`,
  })

export async function expireSessions(ctx: LoopContext): Promise<void> {
  const where = sql`r.expires_at < now()`
  await changeRows(ctx, 'sessions', { table: 'web_sessions', key: sql`r.id`, where })
  await changeRows(ctx, 'sso_starts', { table: 'sso_starts', key: sql`r.state_hash`, where })
  await changeRows(ctx, 'oauth_codes', { table: 'oauth_codes', key: sql`r.code_hash`, where })
  await changeRows(ctx, 'refresh_tokens', { table: 'oauth_refresh_tokens', key: sql`r.token_hash`, where })
  // A program that polls after the end learns that its code has expired.
  const longAgo = sql`r.expires_at < now() - interval '1 hour'`
  await changeRows(ctx, 'oauth_devices', { table: 'oauth_devices', key: sql`r.device_hash`, where: longAgo })
  await changeRows(ctx, 'exchanged_tokens', {
    table: 'api_access_tokens',
    key: sql`r.id`,
    where: sql`r.token_issuer_id is not null and r.expires_at < now() - interval '1 day'`,
  })
  await changeRows(ctx, 'sign_in_links', { table: 'sign_in_links', key: sql`r.code_hash`, where })
}

/** Deletes agents that have been gone for that many days. An agent that ran a job stays as long as the job. */
export function expireAgents(ctx: LoopContext, days: number): Promise<number> {
  const before = new Date(ctx.now().getTime() - days * 24 * 60 * 60 * 1000).toISOString()
  return changeRows(ctx, 'agents_expired', {
    table: 'agents',
    key: sql`r.id`,
    where: sql`
      r.connection_state in ('never_connected', 'disconnected', 'stopped', 'lost')
      and coalesce(r.disconnected_at, r.lost_at, r.created_at) < ${before}
      and not exists (select from jobs j where j.agent_id = r.id)`,
  })
}

/** A row that no loop has tried for a day is gone, or no longer needs anything. */
export async function expireFailedRows({ db }: Pick<LoopContext, 'db'>): Promise<void> {
  await sql`
    delete from failed_rows where next_try_at < now() - interval '1 day' and loop <> all (${replayed}::text[])`.execute(
    db,
  )
}
