// The encrypted secrets of a pipeline: the token in its webhook URL, and the userinfo of its repository URL.
import { randomBytes } from 'node:crypto'
import type { Keyring } from '../../../auth/keyring.ts'
import { hashToken } from '../../../lib/ids.ts'
import { splitUserinfo, withoutUserinfo } from '../../../lib/userinfo.ts'

export interface SealedToken {
  /** Unencrypted, from earlier versions. */
  webhook_token: string | null
  webhook_token_sealed: Buffer | null
  webhook_token_key_id: string | null
}

export const newAddress = (): string => randomBytes(25).toString('hex')

/** The columns of a webhook token. Incoming webhooks are found by its hash. */
export function sealWebhookToken(keys: Keyring, token: string) {
  const { sealed, keyId } = keys.seal(token)
  return {
    webhook_token: null,
    webhook_token_hash: hashToken(token),
    webhook_token_sealed: sealed,
    webhook_token_key_id: keyId,
  }
}

export function openWebhookToken(keys: Keyring, row: SealedToken): string {
  const { webhook_token: plain, webhook_token_sealed: sealed, webhook_token_key_id: keyId } = row
  if (sealed !== null && keyId !== null) return keys.open(sealed, keyId)
  if (plain === null) throw new Error('A pipeline has no webhook token.')
  return plain
}

export interface SealedUserinfo {
  repository_userinfo_sealed: Buffer | null
  repository_userinfo_key_id: string | null
}

export function sealUserinfo(keys: Keyring, userinfo: string | null): SealedUserinfo {
  if (userinfo === null) return { repository_userinfo_sealed: null, repository_userinfo_key_id: null }
  const { sealed, keyId } = keys.seal(userinfo)
  return { repository_userinfo_sealed: sealed, repository_userinfo_key_id: keyId }
}

/**
 * The userinfo columns to update when a body names a repository. The same address keeps its userinfo; another address
 * without userinfo gets none, so a password is only used for the repository it was given for.
 */
export function changedUserinfo(
  keys: Keyring,
  before: { repository: string },
  given: string | undefined,
): SealedUserinfo | Record<string, never> {
  const kept = splitUserinfo(before.repository)
  if (given === undefined) return kept.userinfo === null ? {} : sealUserinfo(keys, kept.userinfo)
  const { address, userinfo } = splitUserinfo(given)
  if (userinfo !== null) return sealUserinfo(keys, userinfo)
  if (address !== kept.address) return sealUserinfo(keys, null)
  return kept.userinfo === null ? {} : sealUserinfo(keys, kept.userinfo)
}

/** The body with its repository stripped of userinfo. */
export const withPlainRepository = <Body extends { repository?: string }>(body: Body): Body =>
  body.repository === undefined ? body : { ...body, repository: withoutUserinfo(body.repository) }
