// Codes that browsers bring back to programs. Each can be exchanged once, within a minute.
import { sql } from 'kysely'
import type { Db } from '../../db/pool.ts'
import { hashToken, newToken } from '../../lib/ids.ts'
import type { AccessTokenRequest } from '../../resources/people/access-token/create.ts'

interface Grant {
  userId: string
  clientId: string
  redirectUri: string
  challenge: string
  tokenRequest: AccessTokenRequest
}

const seconds = 60

/** Returns the code. Only its hash is stored. */
export async function insertCode(db: Db, grant: Grant, now: Date): Promise<string> {
  const code = newToken('mroc_')
  await db
    .insertInto('oauth_codes')
    .values({
      code_hash: hashToken(code),
      user_id: grant.userId,
      client_hash: hashToken(grant.clientId),
      redirect_uri: grant.redirectUri,
      challenge: grant.challenge,
      token_request: JSON.stringify(grant.tokenRequest),
      expires_at: new Date(now.getTime() + seconds * 1000).toISOString(),
    })
    .execute()
  return code
}

export interface TakenCode {
  user: { id: string; name: string }
  client_hash: Buffer
  redirect_uri: string
  challenge: string
  token_request: AccessTokenRequest
}

/** Deletes the code, so that it works once, also when the exchange is refused. */
export async function takeCode(db: Db, code: string, now: Date): Promise<TakenCode | null> {
  const { rows } = await sql<TakenCode>`
    delete from oauth_codes c using users u
    where c.code_hash = ${hashToken(code)} and c.expires_at > ${now.toISOString()} and u.id = c.user_id
    returning json_build_object('id', u.id, 'name', u.name) as user, c.client_hash, c.redirect_uri, c.challenge,
      c.token_request`.execute(db)
  return rows[0] ?? null
}
