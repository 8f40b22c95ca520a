// Records when and from where tokens were last used: in batches outside of requests, and at most once a minute per token
// and address.
import { sql } from 'kysely'
import type { Db } from '../db/pool.ts'

const betweenWritesMs = 60_000
const flushAfterMs = 1_000

export interface TokenUse {
  record(tokenId: string, ip: string): void
  flush(): Promise<void>
}

export function trackTokenUse(db: Db, now: () => number, onError: (error: unknown) => void): TokenUse {
  const written = new Map<string, { ip: string; at: number }>()
  let pending = new Map<string, { ip: string; at: number }>()
  let timer: NodeJS.Timeout | undefined

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const uses = [...pending]
    pending = new Map()
    if (uses.length === 0) return
    await sql`
      update api_access_tokens t set last_used_at = u.at, last_used_ip = u.ip
      from unnest(${uses.map(([id]) => id)}::uuid[], ${uses.map(([, use]) => use.ip)}::text[],
        ${uses.map(([, use]) => new Date(use.at).toISOString())}::timestamptz[]) as u (id, ip, at)
      where t.id = u.id and (t.last_used_at is null or t.last_used_at < u.at)`.execute(db)
  }

  return {
    record(tokenId, ip) {
      const last = written.get(tokenId)
      const at = now()
      if (last !== undefined && last.ip === ip && at - last.at < betweenWritesMs) return
      if (written.size > 100_000) written.clear()
      written.set(tokenId, { ip, at })
      pending.set(tokenId, { ip, at })
      timer ??= setTimeout(() => void flush().catch(onError), flushAfterMs).unref()
    },
    flush,
  }
}
