// Caches access tokens, so that most requests do not query for theirs. The cache is used only while access-watch.ts
// guarantees that this process is notified of changes. At all other times every lookup goes to the database.
import type { FindToken, FoundToken } from './find-tokens.ts'

export interface TokenCache<Found extends FoundToken = FoundToken> {
  find: FindToken<Found>
  /** Calls it at every lookup. Replaces what was given before. */
  onLookup(listener: () => void): void
  /** Allows caching until then, in the time of `performance.now()`. */
  trustUntil(monotonicMs: number): void
  /** Empties the cache and stops caching. The results of lookups in flight are not cached either. */
  clear(): void
}

interface Clocks {
  now: () => number
  /** Does not jump when the system time is set. */
  monotonicNow: () => number
}

/** A token close to its expiry is looked up each time, because the database's clock decides when it expires. */
const queryBeforeExpiryMs = 60_000
const mostTokens = 10_000

interface Cached<Found> {
  token: Found
  until: number
}

export function cacheTokens<Found extends FoundToken>(
  query: FindToken<Found>,
  { now, monotonicNow }: Clocks,
): TokenCache<Found> {
  const cached = new Map<string, Cached<Found>>()
  let trustedUntil = 0
  let clearings = 0
  let noteLookup = () => {}

  const store = (key: string, token: Found) => {
    if (cached.size >= mostTokens) cached.clear()
    const ends = [token.expires_at, token.session?.expires_at ?? null].flatMap((end) =>
      end === null ? [] : [Date.parse(end) - queryBeforeExpiryMs],
    )
    const until = Math.min(Infinity, ...ends)
    cached.set(key, { token, until })
  }

  const findAndStore = async (token: string, slug: string | null, key: string) => {
    const clearingsBefore = clearings
    const found = await query(token, slug)
    // A missing token or membership is not cached, so that one created later counts at once.
    const isComplete = found !== null && (slug === null || found.organization !== null)
    if (isComplete && clearings === clearingsBefore) store(key, found)
    return found
  }

  return {
    async find(token, slug) {
      noteLookup()
      if (monotonicNow() >= trustedUntil) return query(token, slug)
      const key = slug === null ? token : `${token} ${slug}`
      const known = cached.get(key)
      return known !== undefined && now() < known.until ? known.token : findAndStore(token, slug, key)
    },
    onLookup(listener) {
      noteLookup = listener
    },
    trustUntil(monotonicMs) {
      trustedUntil = monotonicMs
    },
    clear() {
      clearings++
      trustedUntil = 0
      cached.clear()
    },
  }
}
