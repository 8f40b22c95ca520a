// Records when and from where tokens and sessions were last used: in batches outside of requests, and at most once a minute
// per credential and address.
import { sql } from 'kysely'
import { togetherOrApart, type LoopContext } from '../db/each-row.ts'

const betweenWritesMs = 60_000
const flushAfterMs = 1_000

export interface UseTracker {
  record(id: string, ip: string): void
  flush(): Promise<void>
}

/** One entry per credential in each list. */
interface Uses {
  ids: string[]
  ips: string[]
  /** ISO 8601. */
  times: string[]
}

export function trackUse(
  ctx: LoopContext,
  loop: 'token_use' | 'session_use',
  write: (uses: Uses) => Promise<void>,
  onError: (error: unknown) => void,
): UseTracker {
  const now = () => ctx.now().getTime()
  const writeApart = togetherOrApart<readonly [string, { ip: string; at: number }]>(ctx, loop)
  const written = new Map<string, { ip: string; at: number }>()
  let pending = new Map<string, { ip: string; at: number }>()
  let timer: NodeJS.Timeout | undefined

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const uses = [...pending]
    pending = new Map()
    if (uses.length === 0) return
    await writeApart(
      uses,
      ([id]) => id,
      (some) =>
        write({
          ids: some.map(([id]) => id),
          ips: some.map(([, use]) => use.ip),
          times: some.map(([, use]) => new Date(use.at).toISOString()),
        }),
    )
  }

  return {
    record(id, ip) {
      const last = written.get(id)
      const at = now()
      if (last !== undefined && last.ip === ip && at - last.at < betweenWritesMs) return
      if (written.size > 100_000) written.clear()
      written.set(id, { ip, at })
      pending.set(id, { ip, at })
      timer ??= setTimeout(() => void flush().catch(onError), flushAfterMs).unref()
    },
    flush,
  }
}

export const trackTokenUse = (ctx: LoopContext, onError: (error: unknown) => void): UseTracker =>
  trackUse(
    ctx,
    'token_use',
    async ({ ids, ips, times }) => {
      await sql`
        update api_access_tokens t set last_used_at = u.at, last_used_ip = u.ip
        from unnest(${ids}::uuid[], ${ips}::text[], ${times}::timestamptz[]) as u (id, ip, at)
        where t.id = u.id and (t.last_used_at is null or t.last_used_at < u.at)`.execute(ctx.db)
    },
    onError,
  )
