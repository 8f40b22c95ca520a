// Sign-ins that were begun at the provider of an organization. Each can be finished once, by the browser that began it.
import { sql } from 'kysely'
import type { Keyring } from '../auth/keyring.ts'
import type { Db } from '../db/pool.ts'
import { hashToken } from '../lib/ids.ts'
import type { Pending } from '../resources/people/sso/provider.ts'

interface Start {
  organizationId: string
  /** The value of the browser's cookie. */
  browser: string
  /** Where the person wants to go. */
  next: string | null
  /** Shows what the provider says, and opens no session. */
  isTest: boolean
}

const minutes = 10

export async function insertStart(
  db: Db,
  keys: Keyring,
  start: Start,
  { state, nonce, verifier }: Pending,
  now: Date,
): Promise<void> {
  const { sealed, keyId } = keys.seal(verifier)
  await db
    .insertInto('sso_starts')
    .values({
      state_hash: hashToken(state),
      organization_id: start.organizationId,
      browser_hash: hashToken(start.browser),
      nonce,
      verifier_sealed: sealed,
      verifier_key_id: keyId,
      next_path: start.next,
      is_test: start.isTest,
      expires_at: new Date(now.getTime() + minutes * 60_000).toISOString(),
    })
    .execute()
}

interface Taken {
  nonce: string
  sealed: Buffer
  key_id: string
  next_path: string | null
  is_test: boolean
}

/** Deletes the start, so that a second callback finds nothing. */
export async function takeStart(
  db: Db,
  keys: Keyring,
  { organizationId, browser, state }: Pick<Start, 'organizationId' | 'browser'> & { state: string },
  now: Date,
): Promise<({ pending: Pending } & Pick<Start, 'next' | 'isTest'>) | null> {
  const { rows } = await sql<Taken>`
    delete from sso_starts
    where state_hash = ${hashToken(state)} and organization_id = ${organizationId}
      and browser_hash = ${hashToken(browser)} and expires_at > ${now.toISOString()}
    returning nonce, verifier_sealed as sealed, verifier_key_id as key_id, next_path, is_test`.execute(db)
  const [row] = rows
  if (row === undefined) return null
  const { nonce, sealed, key_id: keyId, next_path: next, is_test: isTest } = row
  return { pending: { state, nonce, verifier: keys.open(sealed, keyId) }, next, isTest }
}
