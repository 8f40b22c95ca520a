// The public keys of issuers that users name, found as OpenID Connect Discovery says. Keys are kept for some minutes. A hundred
// requests at once ask an issuer once, and whatever callers send, it is asked again only twice a minute: for a key that is
// not known, or because it did not answer.
import { createPublicKey, type JsonWebKey } from 'node:crypto'
import { OutboundError, type OutboundClient } from '../lib/outbound.ts'

export interface PublicKeys {
  keys: Array<Record<string, string>>
}

export interface IssuerKeys {
  /** Throws an OutboundError when the issuer cannot be asked, or answers something else. */
  get(issuer: string, now: Date): Promise<PublicKeys>
  /** For a key that is missing. The same keys when the issuer was asked just now. */
  getNewer(issuer: string, now: Date): Promise<PublicKeys>
}

const keptMs = 10 * 60_000
const againMs = 30_000
const mostIssuers = 500
const mostKeys = 100
/** Keys of large providers have certificates beside them, which are dropped. */
const mostBytes = 128 * 1024

interface Asked {
  /** When these keys were asked for. */
  at: number
  /** When the issuer was last asked, for these keys or in vain for newer ones. */
  triedAt: number
  keys: Promise<PublicKeys>
  isBad: boolean
}

export function issuerKeys(send: OutboundClient['send'], baseUrl: string): IssuerKeys {
  const known = new Map<string, Asked>()

  const ask = (issuer: string, now: Date): Promise<PublicKeys> => {
    const at = now.getTime()
    const asked: Asked = { at, triedAt: at, keys: discover(send, baseUrl, issuer), isBad: false }
    asked.keys.catch(() => {
      asked.isBad = true
    })
    known.delete(issuer)
    known.set(issuer, asked)
    for (const oldest of known.keys()) {
      if (known.size <= mostIssuers) break
      known.delete(oldest)
    }
    return asked.keys
  }

  return {
    get(issuer, now) {
      const asked = known.get(issuer)
      if (asked === undefined) return ask(issuer, now)
      const isGood = asked.isBad ? now.getTime() - asked.triedAt < againMs : now.getTime() - asked.at < keptMs
      return isGood ? asked.keys : ask(issuer, now)
    },
    getNewer(issuer, now) {
      const before = known.get(issuer)
      if (before !== undefined && now.getTime() - before.triedAt < againMs) return before.keys
      const newer = ask(issuer, now)
      // The keys so far stay good for the tokens that they have signed.
      newer.catch(() => {
        if (before !== undefined && known.get(issuer)?.keys === newer)
          known.set(issuer, { ...before, triedAt: now.getTime() })
      })
      return newer
    },
  }
}

async function discover(send: OutboundClient['send'], baseUrl: string, issuer: string): Promise<PublicKeys> {
  const metadata = await getJson(send, `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
  if (metadata['issuer'] !== issuer) throw invalid('The issuer calls itself by another name.')
  const { jwks_uri: uri } = metadata
  if (typeof uri !== 'string' || (baseUrl.startsWith('https:') && !uri.startsWith('https:')))
    throw invalid('The issuer does not say where its keys are.')
  const { keys } = await getJson(send, uri)
  if (!Array.isArray(keys)) throw invalid('The issuer has no list of keys.')
  const usable = keys.slice(0, mostKeys).map(readPublicKey)
  return { keys: usable.filter((key) => key !== null) }
}

async function getJson(send: OutboundClient['send'], url: string): Promise<Record<string, unknown>> {
  const headers = { Accept: 'application/json' }
  const answer = await send({ method: 'GET', url, headers, body: null, keptBytes: mostBytes })
  if (answer.isCut) throw invalid('The answer of the issuer is too long or took too long.')
  if (answer.status !== 200) throw invalid(`The issuer answered ${answer.status}.`)
  const parsed = parse(answer.body.toString())
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw invalid('The answer of the issuer is no JSON object.')
  return { ...parsed }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const invalid = (message: string) => new OutboundError('failed', message)

/** The members that verify signatures, of a key that is fit for it. null: it is not. */
export function readPublicKey(given: unknown): Record<string, string> | null {
  if (typeof given !== 'object' || given === null) return null
  const found = new Map(Object.entries(given))
  const members = ['kty', 'kid', 'alg', 'use', 'crv', 'n', 'e', 'x', 'y'].flatMap((name) => {
    const value: unknown = found.get(name)
    return typeof value === 'string' && value.length <= 2000 ? [[name, value] as const] : []
  })
  const key = Object.fromEntries(members)
  const isForSignatures = key['use'] === undefined || key['use'] === 'sig'
  return isForSignatures && isStrong(key) ? key : null
}

function isStrong(key: JsonWebKey): boolean {
  try {
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = createPublicKey({
      key,
      format: 'jwk',
    })
    const { modulusLength: bits = 0, publicExponent: exponent = 0n } = details ?? {}
    if (type === 'rsa') return bits >= 2048 && bits <= 8192 && exponent < 2n ** 33n
    return type === 'ec' || type === 'ed25519'
  } catch {
    return false
  }
}
