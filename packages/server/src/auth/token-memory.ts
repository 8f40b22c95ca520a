// Tokens found lately, so that most requests need not ask for theirs. A memory is trusted only while somebody vouches
// that it would hear of a change (access-watch.ts); at all other times every question goes to the database.
import type { Soon } from '../lib/soon.ts'
import type { FindToken, FoundToken } from './find-tokens.ts'

export interface TokenMemory {
  /** At once where it is remembered. */
  find(...question: Parameters<FindToken>): Soon<FoundToken | null>
  /** What is found from here on may be remembered, and be used until then, as `performance.now()` counts. */
  trustUntil(monotonicMs: number): void
  /** Trusts nothing any more, not even what is being asked right now. */
  forget(): void
}

export interface Clocks {
  now: () => number
  /** Does not jump when somebody sets the time. */
  monotonicNow: () => number
}

/** Close to its end a token is asked for each time: the clock that decides then is the database's. */
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
    // Only what is there is remembered: a token or a membership that is made now counts now.
    const isWhole = found !== null && (slug === null || found.organization !== null)
    if (isWhole && changes === changesBefore) remember(key, found)
    return found
  }

  return {
    find(token, slug) {
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
