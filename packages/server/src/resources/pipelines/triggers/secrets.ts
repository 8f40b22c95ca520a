// The secrets of a trigger: the random part of its address, and the secret of its signature.
import type { Keyring } from '../../../auth/keyring.ts'
import { hashToken, newToken } from '../../../lib/ids.ts'
import { newAddress } from '../pipelines/sealed.ts'

export interface SealedAddress {
  address_hash: Buffer
  address_sealed: Buffer
  address_key_id: string
}

export interface SealedSecret {
  secret_sealed: Buffer | null
  secret_key_id: string | null
}

/** Requests are found by the hash. */
export function makeAddress(keys: Keyring): SealedAddress {
  const address = newAddress()
  const { sealed, keyId } = keys.seal(address)
  return { address_hash: hashToken(address), address_sealed: sealed, address_key_id: keyId }
}

export const newSecret = (): string => newToken('mrtr_')

export function sealSecret(keys: Keyring, secret: string | null): SealedSecret {
  if (secret === null) return { secret_sealed: null, secret_key_id: null }
  const { sealed, keyId } = keys.seal(secret)
  return { secret_sealed: sealed, secret_key_id: keyId }
}

export const openSecret = (
  keys: Keyring,
  { secret_sealed: sealed, secret_key_id: keyId }: SealedSecret,
): string | null => (sealed === null || keyId === null ? null : keys.open(sealed, keyId))
