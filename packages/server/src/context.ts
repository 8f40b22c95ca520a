// The dependencies of handlers, built once when the process starts.
import type pg from 'pg'
import type { Logger } from 'pino'
import { sessionFinder, tokenFinder } from './auth/find-tokens.ts'
import { keyring, type Keyring } from './auth/keyring.ts'
import { rateLimits, type RateLimits } from './auth/rate-limits.ts'
import { signInLimits, type SignInLimits } from './auth/sign-in-limits.ts'
import { trackSessionUse } from './auth/sessions.ts'
import { cacheTokens, type TokenCache } from './auth/token-cache.ts'
import { trackTokenUse, type UseTracker } from './auth/track-use.ts'
import { openBlobs } from './blobs/open.ts'
import type { BlobStore } from './blobs/store.ts'
import type { Config } from './config.ts'
import type { Db } from './db/pool.ts'
import type { HostedDriver } from './hosted/driver.ts'
import { outboundClient, type OutboundClient } from './lib/outbound.ts'
import { expiringCache, type ExpiringCache } from './lib/expiring-cache.ts'

export interface Context {
  config: Config
  db: Db
  blobs: BlobStore
  log: Logger
  /** The database's time, which is the same for all replicas. */
  now: () => Date
  keys: Keyring
  tokens: TokenCache
  /** Sessions by the value of their cookie. */
  sessions: TokenCache
  tokenUse: UseTracker
  sessionUse: UseTracker
  limits: RateLimits
  signInLimits: SignInLimits
  /** For all URLs that users set. */
  outbound: OutboundClient
  /** Repository tokens of GitHub Apps. */
  appTokens: ExpiringCache<string>
  /** null: this installation has no hosted clusters. */
  hosted: HostedDriver | null
  /**
   * Set if `db` is a transaction of the caller. Runs the work after its commit, with a context outside of the transaction.
   */
  afterCommit: ((work: (ctx: Context) => Promise<void>) => void) | null
}

export interface Parts {
  config: Config
  db: Db
  pool: pg.Pool
  log: Logger
  /** The first seals; all open. */
  secretKeys: readonly string[]
  hosted: HostedDriver | null
  now?: () => Date
}

export function createContext(parts: Parts): Context {
  const { config, db, pool, log, secretKeys, hosted, now = () => new Date() } = parts
  const nowMs = () => now().getTime()
  const clocks = { now: nowMs, monotonicNow: () => performance.now() }
  return {
    config,
    db,
    blobs: openBlobs(config),
    log,
    now,
    keys: keyring(secretKeys),
    tokens: cacheTokens(tokenFinder(db), clocks),
    sessions: cacheTokens(sessionFinder(db), clocks),
    tokenUse: trackTokenUse(db, nowMs, (error) =>
      log.warn({ err: error }, 'Could not record when tokens were used.'),
    ),
    sessionUse: trackSessionUse(db, nowMs, (error) =>
      log.warn({ err: error }, 'Could not record when sessions were used.'),
    ),
    limits: rateLimits(config.rateLimits, pool),
    signInLimits: signInLimits(pool),
    outbound: outboundClient({ allow: config.outboundAllow.join(' ') }),
    appTokens: expiringCache({ marginMs: 10 * 60_000, most: 5000 }),
    hosted,
    afterCommit: null,
  }
}
