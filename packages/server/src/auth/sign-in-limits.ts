// Limits how often a password can be guessed, and how many sign-ins at providers a network leaves unfinished. Wrong passwords of one
// network never lock the owner of the account out of another; guesses from many networks are slowed down together, and then a
// browser in which the owner has signed in before still has tries of its own. The counters are in the database, so all servers
// count together.
import type pg from 'pg'
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import { ApiError } from '../lib/errors.ts'
import { hashToken } from '../lib/ids.ts'
import { storage } from './rate-limits.ts'

const windowSeconds = 15 * 60
/** Of one account, from one network, from all networks of one owner, and from anywhere. */
const triesPerAccount = { network: 10, region: 30, all: 100 }
const triesPerBrowser = 10
const triesPerNetwork = 100
const unfinishedPerNetwork = 200
/** Codes of devices. With ten guesses in 15 minutes, one of 34 bits is not found. */
const guessesPerPerson = 10
const devicesPerNetwork = 100

/** To be called after a right password. */
type Forgive = () => Promise<void>

interface Try {
  email: string
  ip: string
  /** The id of a browser in which the owner of the account has signed in before. */
  knownBrowser: string | null
}

export interface SignInLimits {
  /** Counts one try. Throws 429 when there were too many. */
  spend(attempt: Try): Promise<Forgive>
  /** The same for the password of somebody who is signed in. */
  spendInSession(sessionId: string): Promise<Forgive>
  /** Counts a sign-in that goes on at a provider. Throws 429 when too many were not finished. */
  begin(ip: string): Promise<void>
  finish(ip: string): Promise<void>
  /** Counts a person's guess of the code of a device. Throws 429. */
  guess(userId: string): Promise<Forgive>
  /** Counts a device that asks for a code. Throws 429. */
  beginDevice(ip: string): Promise<void>
}

export function signInLimits(pool: pg.Pool): SignInLimits {
  const limiter = (keyPrefix: string, points: number) =>
    new RateLimiterPostgres({ keyPrefix, points, duration: windowSeconds, ...storage(pool) })
  const browsers = limiter('sign_in_browser', triesPerBrowser)
  const networks = limiter('sign_in_network', triesPerNetwork)
  const accountInNetwork = limiter('sign_in_account_network', triesPerAccount.network)
  const accountInRegion = limiter('sign_in_account_region', triesPerAccount.region)
  const account = limiter('sign_in_account', triesPerAccount.all)
  const unfinished = limiter('sso_network', unfinishedPerNetwork)
  const guesses = limiter('device_code', guessesPerPerson)
  const devices = limiter('device_network', devicesPerNetwork)

  const spendAsStranger = async ({ email, ip }: Try): Promise<Forgive> => {
    const network = networkOf(ip)
    const key = keyOf(email)
    const inNetwork = keyOf(`${email} ${network}`)
    const inRegion = keyOf(`${email} ${regionOf(ip)}`)
    await networks.consume(network)
    // The narrow limits come first, so that what they refuse does not count for the wide ones.
    await accountInNetwork.consume(inNetwork)
    await accountInRegion.consume(inRegion)
    await account.consume(key)
    return async () => {
      await Promise.all([
        networks.reward(network),
        accountInNetwork.delete(inNetwork),
        accountInRegion.reward(inRegion),
        account.reward(key),
      ])
    }
  }

  const spendAsKnown = async (browser: string): Promise<Forgive> => {
    await browsers.consume(browser)
    return async () => void (await browsers.delete(browser))
  }

  return {
    spend: (attempt) =>
      refusing(async () => {
        if (attempt.knownBrowser === null) return spendAsStranger(attempt)
        try {
          return await spendAsKnown(attempt.knownBrowser)
        } catch (error) {
          // Its cookie may have been taken, and somebody else has used its tries up.
          if (error instanceof RateLimiterRes) return spendAsStranger(attempt)
          throw error
        }
      }),
    spendInSession: (sessionId) => refusing(() => spendAsKnown(sessionId)),
    begin: (ip) => refusing(async () => void (await unfinished.consume(networkOf(ip)))),
    async finish(ip) {
      await unfinished.reward(networkOf(ip))
    },
    guess: (userId) =>
      refusing(async () => {
        await guesses.consume(userId)
        return async () => void (await guesses.reward(userId))
      }),
    beginDevice: (ip) => refusing(async () => void (await devices.consume(networkOf(ip)))),
  }
}

async function refusing<T>(count: () => Promise<T>): Promise<T> {
  try {
    return await count()
  } catch (error) {
    throw error instanceof RateLimiterRes ? tooMany(error.msBeforeNext) : error
  }
}

const keyOf = (email: string) => hashToken(email.toLowerCase()).toString('hex')

/** One network of IPv6 has 2^64 addresses and usually one owner. */
const networkOf = (ip: string): string => {
  const groups = groupsOf(ip)
  return groups === null ? plain(ip) : groups.slice(0, 4).join(':')
}

/** Providers give one customer up to 2^16 networks of IPv6, or 256 addresses of IPv4. */
const regionOf = (ip: string): string => {
  const groups = groupsOf(ip)
  return groups === null ? plain(ip).split('.').slice(0, 3).join('.') : groups.slice(0, 3).join(':')
}

const plain = (ip: string): string => ip.replace(/^::ffff:(?=\d+\.)/i, '')

/** The eight groups of an address of IPv6. null: it is one of IPv4. */
function groupsOf(ip: string): string[] | null {
  const address = plain(ip)
  if (!address.includes(':')) return null
  const [head = '', tail] = address.toLowerCase().split('::')
  const groups = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = tail === undefined ? 0 : Math.max(0, 8 - groups.length - last.length)
  return [...groups, ...Array.from({ length: missing }, () => '0'), ...last]
}

function tooMany(ms: number): ApiError {
  const minutes = Math.max(1, Math.ceil(ms / 60_000))
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`
  return new ApiError(429, `There were too many tries to sign in. Try again in ${wait}.`, {
    details: { reset: Math.ceil(ms / 1000) },
  })
}
