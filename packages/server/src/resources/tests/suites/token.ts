import type { Keyring } from '../../../auth/keyring.ts'
import type { SuiteRow } from './queries.ts'

/** Null where only the hash of the token was stored. */
export function openToken(
  keys: Keyring,
  { token_sealed: sealed, token_key_id: keyId }: SuiteRow,
): string | null {
  return sealed === null || keyId === null ? null : keys.open(sealed, keyId)
}
