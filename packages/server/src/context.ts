// What a handler may use, built once when the process starts.
import type pg from 'pg'
import type { Logger } from 'pino'
import { tokenFinder } from './auth/find-tokens.ts'
import { keyring, type Keyring } from './auth/keyring.ts'
import { rateLimits, type RateLimits } from './auth/rate-limits.ts'
import { rememberTokens, type TokenMemory } from './auth/token-memory.ts'
import { trackTokenUse, type TokenUse } from './auth/token-use.ts'
import { openBlobs } from './blobs/open.ts'
import type { BlobStore } from './blobs/store.ts'
import type { Config } from './config.ts'
import type { Db } from './db/pool.ts'
import type { HostedDriver } from './hosted/driver.ts'
import { outboundClient, type OutboundClient } from './lib/outbound.ts'
import { shortLived, type ShortLived } from './lib/short-lived.ts'

export interface Context {
  config: Config
  db: Db
  blobs: BlobStore
  log: Logger
  /** The database's time, which all replicas agree on. */
  now: () => Date
  keys: Keyring
  tokens: TokenMemory
  tokenUse: TokenUse
  limits: RateLimits
  /** For every URL that a user can set. */
  outbound: OutboundClient
  /** Tokens for repositories, made with the keys of GitHub Apps. */
  appTokens: ShortLived<string>
  /** null: this installation has no hosted clusters. */
  hosted: HostedDriver | null
  /**
   * Set where `db` is a transaction that the caller began: takes what must happen after its commit, to be done with a
   * context outside of it.
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
  return {
    config,
    db,
    blobs: openBlobs(config),
    log,
    now,
    keys: keyring(secretKeys),
    tokens: rememberTokens(tokenFinder(db), { now: nowMs, monotonicNow: () => performance.now() }),
    tokenUse: trackTokenUse(db, nowMs, (error) =>
      log.warn({ err: error }, 'Could not record when tokens were used.'),
    ),
    limits: rateLimits(config.rateLimits, pool),
    outbound: outboundClient({ allow: config.outboundAllow.join(' ') }),
    appTokens: shortLived({ marginMs: 10 * 60_000, most: 5000 }),
    hosted,
    afterCommit: null,
  }
}
