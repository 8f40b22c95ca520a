// Web sessions, which browsers hold instead of access tokens. Only the hash of a session's value is stored.
import type { Db } from '../db/pool.ts'
import { hashToken, newId, newToken } from '../lib/ids.ts'

export const sessionSeconds = 3600

/** Returns the value for the browser's cookie. */
export async function openSession(db: Db, accessTokenId: string, now: Date): Promise<string> {
  const value = newToken('mrws_')
  await db
    .insertInto('web_sessions')
    .values({
      id: newId(),
      token_hash: hashToken(value),
      access_token_id: accessTokenId,
      created_at: now.toISOString(),
      expires_at: new Date(now.getTime() + sessionSeconds * 1000).toISOString(),
    })
    .execute()
  return value
}

export async function endSession(db: Db, value: string): Promise<void> {
  await db.deleteFrom('web_sessions').where('token_hash', '=', hashToken(value)).execute()
}
