// OAuth authorizations that were begun. Each can be finished once, by the session that began it.
import { sql } from 'kysely'
import type { Keyring } from '../auth/keyring.ts'
import type { OAuthProvider } from '../config/outbound.ts'
import type { Db } from '../db/pool.ts'
import { hashToken } from '../lib/ids.ts'
import type { Pending } from '../notifications/delivery/oauth.ts'

interface Start {
  organizationId: string
  userId: string
  sessionId: string
  provider: OAuthProvider
  choice: string
}

const minutes = 10

export async function insertStart(
  db: Db,
  keys: Keyring,
  start: Start,
  { state, verifier }: Pending,
  now: Date,
): Promise<void> {
  const { sealed, keyId } = keys.seal(verifier)
  await db
    .insertInto('notification_oauth_starts')
    .values({
      state_hash: hashToken(state),
      organization_id: start.organizationId,
      user_id: start.userId,
      session_id: start.sessionId,
      provider: start.provider,
      settings: JSON.stringify({ choice: start.choice }),
      verifier_sealed: sealed,
      verifier_key_id: keyId,
      created_at: now.toISOString(),
      expires_at: new Date(now.getTime() + minutes * 60_000).toISOString(),
    })
    .execute()
}

type Key = Pick<Start, 'sessionId' | 'provider'> & { state: string }

const matches = ({ sessionId, provider, state }: Key, now: Date) => sql<boolean>`
  s.state_hash = ${hashToken(state)} and s.session_id = ${sessionId} and s.provider = ${provider}
  and s.expires_at > ${now.toISOString()}`

/** The slug of its organization. */
export async function findStart(db: Db, key: Key, now: Date): Promise<string | null> {
  const { rows } = await sql<{ slug: string }>`
    select o.slug from notification_oauth_starts s join organizations o on o.id = s.organization_id
    where ${matches(key, now)}`.execute(db)
  return rows[0]?.slug ?? null
}

/** Deletes the start, so that a second callback finds nothing. */
export async function takeStart(
  db: Db,
  keys: Keyring,
  key: Key,
  now: Date,
): Promise<{ choice: string; verifier: string } | null> {
  const { rows } = await sql<{ choice: string; sealed: Buffer; key_id: string }>`
    delete from notification_oauth_starts s where ${matches(key, now)}
    returning s.settings ->> 'choice' as choice, s.verifier_sealed as sealed, s.verifier_key_id as key_id`.execute(
    db,
  )
  const [row] = rows
  return row === undefined ? null : { choice: row.choice, verifier: keys.open(row.sealed, row.key_id) }
}
