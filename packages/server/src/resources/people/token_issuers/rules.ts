import { validationFailed } from '../../../lib/errors.ts'
import { readPublicKey, type PublicKeys } from '../../../auth/issuer-keys.ts'

/** People paste what they have; a private key is never stored. */
export function readJwks(given: { keys: ReadonlyArray<Record<string, unknown>> } | null): PublicKeys | null {
  if (given === null) return null
  const keys = given.keys.map((key, index) => {
    if ('d' in key || 'k' in key)
      throw validationFailed(`jwks.keys[${index}] is a secret key; send the public one`)
    const read = readPublicKey(key)
    if (read === null)
      throw validationFailed(
        `jwks.keys[${index}] is not a public key of RSA (2048 to 8192 bits), ECDSA or Ed25519 for signatures`,
      )
    return read
  })
  return { keys }
}

const comparedAnyway = new Set(['iss', 'aud', 'exp', 'nbf', 'iat', 'jti'])

/** Conditions that say nothing of who has the token would let everyone in whom the issuer knows. */
export function requireConditions(claims: Record<string, string[]>): void {
  const useless = Object.keys(claims).find((claim) => comparedAnyway.has(claim))
  if (useless !== undefined)
    throw validationFailed(`claims must say whose token it is, such as with sub; ${useless} does not`)
}

/** The first claim that does not say what it must. undefined: there is none. */
export const unmetClaim = (
  claims: Readonly<Record<string, readonly string[]>>,
  said: Readonly<Record<string, unknown>>,
): string | undefined =>
  Object.entries(claims).find(([claim, wanted]) => {
    const values = Object.hasOwn(said, claim) ? [said[claim]].flat() : []
    return !values.some((value) => isPlain(value) && wanted.includes(String(value)))
  })?.[0]

const isPlain = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value)
