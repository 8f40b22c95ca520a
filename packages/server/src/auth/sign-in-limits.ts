// Limits how often a password can be guessed, per e-mail address and per network address, and how many sign-ins at providers a
// network leaves unfinished. The counters are in the database,
// so all servers count together.
import type pg from 'pg'
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import { ApiError } from '../lib/errors.ts'
import { hashToken } from '../lib/ids.ts'
import { storage } from './rate-limits.ts'

const windowSeconds = 15 * 60
const triesPerEmail = 10
const triesPerNetwork = 100
const unfinishedPerNetwork = 200

export interface SignInLimits {
  /** Counts one try. Throws 429 when there were too many. */
  spend(email: string, ip: string): Promise<void>
  /** Forgets the tries for this address after a right password. */
  forgive(email: string, ip: string): Promise<void>
  /** Counts a sign-in that goes on at a provider. Throws 429 when too many were not finished. */
  begin(ip: string): Promise<void>
  finish(ip: string): Promise<void>
}

export function signInLimits(pool: pg.Pool): SignInLimits {
  const limiter = (keyPrefix: string, points: number) =>
    new RateLimiterPostgres({ keyPrefix, points, duration: windowSeconds, ...storage(pool) })
  const emails = limiter('sign_in_email', triesPerEmail)
  const networks = limiter('sign_in_network', triesPerNetwork)
  const unfinished = limiter('sso_network', unfinishedPerNetwork)
  return {
    spend: (email, ip) =>
      refusing(async () => {
        await networks.consume(networkOf(ip))
        await emails.consume(keyOf(email))
      }),
    async forgive(email, ip) {
      await Promise.all([emails.delete(keyOf(email)), networks.reward(networkOf(ip))])
    },
    begin: (ip) => refusing(() => unfinished.consume(networkOf(ip))),
    async finish(ip) {
      await unfinished.reward(networkOf(ip))
    },
  }
}

async function refusing(count: () => Promise<unknown>): Promise<void> {
  try {
    await count()
  } catch (error) {
    throw error instanceof RateLimiterRes ? tooMany(error.msBeforeNext) : error
  }
}

const keyOf = (email: string) => hashToken(email.toLowerCase()).toString('hex')

/** One network of IPv6 has 2^64 addresses and usually one owner. */
function networkOf(ip: string): string {
  const address = ip.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!address.includes(':')) return address
  const [head = '', tail] = address.toLowerCase().split('::')
  const groups = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = tail === undefined ? 0 : Math.max(0, 8 - groups.length - last.length)
  return [...groups, ...Array.from({ length: missing }, () => '0'), ...last].slice(0, 4).join(':')
}

function tooMany(ms: number): ApiError {
  const minutes = Math.max(1, Math.ceil(ms / 60_000))
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`
  return new ApiError(429, `There were too many tries to sign in. Try again in ${wait}.`, {
    details: { reset: Math.ceil(ms / 1000) },
  })
}
