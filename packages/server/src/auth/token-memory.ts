// Caches access tokens, so that most requests do not query for theirs. The cache is used only while access-watch.ts
// guarantees that this process is notified of changes. At all other times every lookup goes to the database.
import type { FindToken, FoundToken } from './find-tokens.ts'

export interface TokenMemory {
  find: FindToken
  /** Allows caching until then, in the time of `performance.now()`. */
  trustUntil(monotonicMs: number): void
  /** Empties the cache and stops caching. The results of lookups in flight are not cached either. */
  forget(): void
}

export interface Clocks {
  now: () => number
  /** Does not jump when the system time is set. */
  monotonicNow: () => number
}

/** A token close to its expiry is looked up each time, because the database's clock decides when it expires. */
const askBeforeExpiryMs = 60_000
const mostTokens = 10_000

interface Remembered {
  token: FoundToken
  until: number
}

export function rememberTokens(ask: FindToken, { now, monotonicNow }: Clocks): TokenMemory {
  const remembered = new Map<string, Remembered>()
  let trustedUntil = 0
  let changes = 0

  const remember = (key: string, token: FoundToken) => {
    if (remembered.size >= mostTokens) remembered.clear()
    const { expires_at: expiresAt } = token
    const until = expiresAt === null ? Infinity : Date.parse(expiresAt) - askBeforeExpiryMs
    remembered.set(key, { token, until })
  }

  const findAndRemember = async (token: string, slug: string | null, key: string) => {
    const changesBefore = changes
    const found = await ask(token, slug)
    // A missing token or membership is not cached, so that one created later counts at once.
    const isWhole = found !== null && (slug === null || found.organization !== null)
    if (isWhole && changes === changesBefore) remember(key, found)
    return found
  }

  return {
    async find(token, slug) {
      if (monotonicNow() >= trustedUntil) return ask(token, slug)
      const key = slug === null ? token : `${token} ${slug}`
      const known = remembered.get(key)
      return known !== undefined && now() < known.until ? known.token : findAndRemember(token, slug, key)
    },
    trustUntil(monotonicMs) {
      trustedUntil = monotonicMs
    },
    forget() {
      changes++
      trustedUntil = 0
      remembered.clear()
    },
  }
}
