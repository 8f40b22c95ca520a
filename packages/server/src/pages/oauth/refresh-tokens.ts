// Refresh tokens of programs. Each works once and makes the next, so a stolen copy is noticed: whoever uses an old one again ends the
// access of all. A program that lost the answer may ask again within a minute and gets the same answer, because the new tokens
// are derived from the old one with the installation's secret. So two processes of a program that refresh at once agree, too.
import { sql } from 'kysely'
import { flushTokenCaches } from '../../auth/access-watch.ts'
import type { Keyring } from '../../auth/keyring.ts'
import type { Origin } from '../../audit/record.ts'
import type { Db, Trx } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { ApiError } from '../../lib/errors.ts'
import { hashToken, newToken } from '../../lib/ids.ts'
import { revokeAccessToken } from '../../resources/people/access-token/revoke.ts'

export const accessSeconds = 3600
const idleDays = 30
const graceSeconds = 60

/** The first of a program. */
export async function insertRefreshToken(
  trx: Trx,
  { accessTokenId, until, now }: { accessTokenId: string; until: string; now: Date },
): Promise<string> {
  const token = newToken('mror_')
  await insert(trx, { token, accessTokenId, generation: 1, until, now })
  return token
}

async function insert(
  trx: Trx,
  row: { token: string; accessTokenId: string; generation: number; until: string; now: Date },
): Promise<void> {
  const idleEnd = row.now.getTime() + idleDays * 86_400_000
  await trx
    .insertInto('oauth_refresh_tokens')
    .values({
      token_hash: hashToken(row.token),
      access_token_id: row.accessTokenId,
      generation: row.generation,
      created_at: row.now.toISOString(),
      expires_at: new Date(Math.min(idleEnd, Date.parse(row.until))).toISOString(),
    })
    .execute()
}

interface Refreshed {
  accessToken: string
  refreshToken: string
  expiresAt: string
  scopes: string[]
}

interface Family {
  id: string
  user: { id: string; name: string }
  scopes: string[]
  token_hash: Buffer
  expires_at: string
  renewable_until: string
  generation: number
  is_expired: boolean
  /** It was used less than a minute ago. */
  is_recent: boolean
  is_used: boolean
  newest: number
}

type Outcome = { is: 'refreshed'; tokens: Refreshed } | { is: 'refused' } | { is: 'reused'; family: Family }

/** null: the token is unknown, expired or revoked. */
export async function refresh(
  { db, keys }: { db: Db; keys: Keyring },
  asked: { refreshToken: string; clientId: string; request: { ip: string; userAgent: string | null } },
  now: Date,
): Promise<Refreshed | null> {
  const outcome = await inTransaction(db, (trx) => rotate(trx, keys, asked, now))
  if (outcome.is === 'refreshed') return outcome.tokens
  if (outcome.is === 'reused') {
    const { id, user } = outcome.family
    await revoke(db, { kind: 'sign_in', user, request: asked.request }, id, {
      reason: 'refresh_token_reused',
    })
  }
  return null
}

async function rotate(
  trx: Trx,
  keys: Keyring,
  { refreshToken, clientId }: { refreshToken: string; clientId: string },
  now: Date,
): Promise<Outcome> {
  const family = await lockFamily(trx, refreshToken, clientId, now)
  if (family === undefined || family.is_expired) return { is: 'refused' }
  const next = derive(keys, refreshToken)
  if (family.is_used) {
    if (!family.is_recent || family.newest !== family.generation + 1) return { is: 'reused', family }
    // The secret key has changed within the minute: the program must log in again, but nobody has stolen anything.
    if (!family.token_hash.equals(hashToken(next.access))) return { is: 'refused' }
    return { is: 'refreshed', tokens: tokensOf(next, family, family.expires_at) }
  }
  const end = Math.min(now.getTime() + accessSeconds * 1000, Date.parse(family.renewable_until))
  const expiresAt = new Date(end).toISOString()
  await sql`
    update oauth_refresh_tokens set used_at = ${now.toISOString()}
    where access_token_id = ${family.id} and generation = ${family.generation}`.execute(trx)
  await insert(trx, {
    token: next.refresh,
    accessTokenId: family.id,
    generation: family.generation + 1,
    until: family.renewable_until,
    now,
  })
  await sql`
    update api_access_tokens set token_hash = ${hashToken(next.access)}, expires_at = ${expiresAt}
    where id = ${family.id}`.execute(trx)
  return { is: 'refreshed', tokens: tokensOf(next, family, expiresAt) }
}

/** Locks the access token, so that two refreshes come one after the other. */
async function lockFamily(
  trx: Trx,
  refreshToken: string,
  clientId: string,
  now: Date,
): Promise<Family | undefined> {
  const hash = hashToken(refreshToken)
  const at = now.toISOString()
  await sql`
    select from api_access_tokens t join oauth_refresh_tokens r on r.access_token_id = t.id
    where r.token_hash = ${hash} for update of t`.execute(trx)
  const { rows } = await sql<Family>`
    select t.id, t.scopes, t.token_hash, t.expires_at, t.renewable_until, r.generation,
      json_build_object('id', u.id, 'name', u.name) as user,
      r.expires_at <= ${at} or t.renewable_until <= ${at} as is_expired, r.used_at is not null as is_used,
      coalesce(r.used_at > ${at}::timestamptz - make_interval(secs => ${graceSeconds}), false) as is_recent,
      (select max(n.generation) from oauth_refresh_tokens n where n.access_token_id = t.id) as newest
    from oauth_refresh_tokens r join api_access_tokens t on t.id = r.access_token_id join users u on u.id = t.user_id
    where r.token_hash = ${hash} and t.client_hash = ${hashToken(clientId)} and t.revoked_at is null`.execute(
    trx,
  )
  return rows[0]
}

function derive(keys: Keyring, refreshToken: string): { access: string; refresh: string } {
  const value = (use: string) =>
    [1, 2, 3]
      .map((part) => keys.sign(`oauth ${use} ${part}`, refreshToken).toString('hex'))
      .join('')
      .slice(0, 40)
  return { access: `mrt_${value('access')}`, refresh: `mror_${value('refresh')}` }
}

const tokensOf = (
  { access, refresh: next }: { access: string; refresh: string },
  { scopes }: Family,
  expiresAt: string,
): Refreshed => ({ accessToken: access, refreshToken: next, expiresAt, scopes })

/** Ends the access that the client has by this access token or refresh token. */
export async function revokeOfClient(
  db: Db,
  {
    token,
    clientId,
    request,
  }: { token: string; clientId: string; request: { ip: string; userAgent: string | null } },
): Promise<void> {
  const hash = hashToken(token)
  const { rows } = await sql<{ id: string; user: { id: string; name: string } }>`
    select t.id, json_build_object('id', u.id, 'name', u.name) as user
    from api_access_tokens t join users u on u.id = t.user_id
    where t.client_hash = ${hashToken(clientId)} and t.revoked_at is null and t.id = coalesce(
      (select a.id from api_access_tokens a where a.token_hash = ${hash}),
      (select r.access_token_id from oauth_refresh_tokens r where r.token_hash = ${hash}))`.execute(db)
  const [found] = rows
  if (found !== undefined) await revoke(db, { kind: 'sign_in', user: found.user, request }, found.id)
}

/** Somebody else may have revoked it at the same moment. */
async function revoke(db: Db, origin: Origin, id: string, data?: Record<string, unknown>): Promise<void> {
  await revokeAccessToken(db, origin, id, data).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
  })
  await flushTokenCaches(db)
}
