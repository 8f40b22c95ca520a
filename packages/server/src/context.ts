// The dependencies of handlers, built once when the process starts.
import type pg from 'pg'
import type { Logger } from 'pino'
import { trackAgentActivity, type AgentActivity } from './auth/agent-activity.ts'
import type { Caller, Organization } from './auth/caller.ts'
import { sessionFinder, tokenFinder } from './auth/find-tokens.ts'
import { keyring, type Keyring } from './auth/keyring.ts'
import { rateLimits, type RateLimits } from './auth/rate-limits.ts'
import { provenSessions, type ProvenSessions } from './auth/proven-sessions.ts'
import { signInLimits, type SignInLimits } from './auth/sign-in-limits.ts'
import { trackSessionUse } from './auth/sessions.ts'
import { cacheTokens, type TokenCache } from './auth/token-cache.ts'
import { trackTokenUse, type UseTracker } from './auth/track-use.ts'
import { measureBlobs } from './blobs/measured.ts'
import { openBlobs } from './blobs/open.ts'
import type { BlobStore } from './blobs/store.ts'
import type { Config } from './config/config.ts'
import type { Db, Trx } from './db/pool.ts'
import type { HostedDriver } from './hosted/driver.ts'
import { outboundClient, type OutboundClient } from './lib/outbound.ts'
import { expiringCache, type ExpiringCache } from './lib/expiring-cache.ts'
import { issuerKeys, type IssuerKeys } from './auth/issuer-keys.ts'
import type { Metrics } from './lib/metrics.ts'
import type { Tracer } from './lib/tracing.ts'
import { queueLabels, type QueueLabels } from './metrics/queue-labels.ts'
import type { HookState } from './source-hosts/hooks.ts'

export interface Context {
  config: Config
  db: Db
  /** Sessions of PostgreSQL, for locks that outlast a transaction. */
  direct: pg.Pool
  blobs: BlobStore
  log: Logger
  /** The database's time, which is the same for all replicas. */
  now: () => Date
  /** When this process started, in the database's time. */
  startedAt: Date
  keys: Keyring
  tokens: TokenCache
  sessions: ProvenSessions
  tokenUse: UseTracker
  sessionUse: UseTracker
  agentActivity: AgentActivity
  limits: RateLimits
  signInLimits: SignInLimits
  /** For all URLs that users set. */
  outbound: OutboundClient
  /** Of the authorities whose tokens are exchanged. */
  issuerKeys: IssuerKeys
  /** Repository tokens of GitHub Apps. */
  appTokens: ExpiringCache<string>
  /** By pipeline and repository. */
  hookStates: ExpiringCache<HookState>
  /** null: this installation has no hosted clusters. */
  hosted: HostedDriver | null
  metrics: Metrics
  queueLabels: QueueLabels
  /** null: this server is not traced. */
  tracer: Tracer | null
  /**
   * Set if `db` is a transaction of the caller. Runs the work after its commit, with a context outside of the transaction.
   */
  afterCommit: ((work: (ctx: Context) => Promise<void>) => void) | null
  /**
   * Set for a request with an idempotency key that runs in no transaction. In the transaction of its change it says whether no
   * earlier try has made the change: one that did may have died before its answer was stored.
   */
  isFirstWrite: ((trx: Trx) => Promise<boolean>) | null
}

/** A request of a caller in an organization. */
export interface RequestContext {
  ctx: Context
  org: Organization
  caller: Caller
}

interface Parts {
  config: Config
  db: Db
  direct: pg.Pool
  log: Logger
  /** The first seals; all open. */
  secretKeys: readonly string[]
  hosted: HostedDriver | null
  metrics: Metrics
  tracer?: Tracer | null
  now?: () => Date
  startedAt?: Date
}

export function createContext(parts: Parts): Context {
  const {
    config,
    db,
    direct,
    log,
    secretKeys,
    hosted,
    metrics,
    tracer = null,
    now = () => new Date(),
    startedAt = new Date(performance.timeOrigin),
  } = parts
  const nowMs = () => now().getTime()
  const keys = keyring(secretKeys)
  const outbound = outboundClient({ allow: config.outboundAllow.join(' ') })
  const loops = { db, log, now, metrics }
  const clocks = { now: nowMs, monotonicNow: () => performance.now() }
  return {
    config,
    db,
    direct,
    blobs: measureBlobs(openBlobs(config), metrics),
    log,
    now,
    startedAt,
    keys,
    tokens: cacheTokens(tokenFinder(db), clocks),
    sessions: provenSessions(cacheTokens(sessionFinder(db), clocks), { keys, now }),
    tokenUse: trackTokenUse(loops, (error) =>
      log.warn({ err: error }, 'Could not record when tokens were used.'),
    ),
    sessionUse: trackSessionUse(loops, (error) =>
      log.warn({ err: error }, 'Could not record when sessions were used.'),
    ),
    agentActivity: trackAgentActivity(loops, (error) =>
      log.warn({ err: error }, 'Could not record when agents were heard; trying again.'),
    ),
    limits: rateLimits(config.rateLimits, direct),
    signInLimits: signInLimits(direct),
    outbound,
    issuerKeys: issuerKeys(outbound.send, config.url),
    appTokens: expiringCache({ marginMs: 10 * 60_000, most: 5000 }),
    hookStates: expiringCache({ marginMs: 0, most: 5000 }),
    hosted,
    metrics,
    queueLabels: queueLabels(db, config.metrics.queues),
    tracer,
    afterCommit: null,
    isFirstWrite: null,
  }
}
