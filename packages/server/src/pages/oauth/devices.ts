// Programs that wait for a person to enter their code on another device (RFC 8628). The program polls with a long secret; the
// person types a short code, which is valid for ten minutes and can be decided once.
import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import type { Keyring } from '../../auth/keyring.ts'
import type { Scope } from '../../auth/scopes.ts'
import type { Db } from '../../db/pool.ts'
import { inTransaction, violatedUnique } from '../../db/transaction.ts'
import { hashToken, newToken } from '../../lib/ids.ts'
import type { AccessTokenRequest } from '../../resources/people/access-token/create.ts'

export const deviceSeconds = 600
export const firstIntervalSeconds = 5

/** Consonants: no words come out, and none looks like a digit. Eight of them are 34 bits. */
const letters = 'BCDFGHJKLMNPQRSTVWXZ'
const codeLength = 8
const codePattern = new RegExp(`^[${letters}]{${codeLength}}$`)

interface Asking {
  clientId: string
  program: string
  scopes: readonly Scope[]
  ip: string
}

/** Returns both codes. Only their hashes are stored. */
export async function insertDevice(
  db: Db,
  keys: Keyring,
  asking: Asking,
  now: Date,
): Promise<{ deviceCode: string; userCode: string }> {
  const deviceCode = newToken('mrod_')
  for (;;) {
    const userCode = Array.from({ length: codeLength }, () => letters[randomInt(letters.length)]).join('')
    try {
      await db
        .insertInto('oauth_devices')
        .values({
          device_hash: hashToken(deviceCode),
          user_code_hash: hashUserCode(keys, userCode),
          client_hash: hashToken(asking.clientId),
          program: asking.program,
          scopes: [...asking.scopes],
          ip: asking.ip,
          created_at: now.toISOString(),
          expires_at: new Date(now.getTime() + deviceSeconds * 1000).toISOString(),
          interval_seconds: firstIntervalSeconds,
        })
        .execute()
      return { deviceCode, userCode: showUserCode(userCode) }
    } catch (error) {
      if (violatedUnique(error) !== 'oauth_devices_user_code_key') throw error
    }
  }
}

const hashUserCode = (keys: Keyring, code: string) => keys.sign('oauth user code', code)

export const showUserCode = (code: string) => `${code.slice(0, 4)}-${code.slice(4)}`

/** What a person has typed, in any case and with any separators. null: no code looks like that. */
export function readUserCode(typed: string): string | null {
  const code = typed.toUpperCase().replaceAll(/[\s\-–—_.]/g, '')
  return codePattern.test(code) ? code : null
}

export interface DeviceRow {
  device_hash: Buffer
  program: string
  scopes: Scope[]
  ip: string
  created_at: string
}

/** One that nobody has decided yet. */
export async function findUndecided(
  db: Db,
  keys: Keyring,
  code: string,
  now: Date,
): Promise<DeviceRow | undefined> {
  const { rows } = await sql<DeviceRow>`
    select device_hash, program, scopes, ip, created_at from oauth_devices
    where user_code_hash = ${hashUserCode(keys, code)} and is_allowed is null
      and expires_at > ${now.toISOString()}`.execute(db)
  return rows[0]
}

interface Decision {
  userId: string
  /** null: the person denies. */
  tokenRequest: AccessTokenRequest | null
}

/** False: somebody has decided already. */
export async function decideDevice(
  db: Db,
  { device_hash: hash }: Pick<DeviceRow, 'device_hash'>,
  { userId, tokenRequest }: Decision,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('oauth_devices')
    .set({
      is_allowed: tokenRequest !== null,
      user_id: userId,
      token_request: tokenRequest === null ? null : JSON.stringify(tokenRequest),
    })
    .where('device_hash', '=', hash)
    .where('is_allowed', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

interface Allowed {
  user: { id: string; name: string }
  token_request: AccessTokenRequest
}

type Polled =
  | { is: 'unknown' | 'expired' | 'pending' | 'too_fast' | 'denied' }
  | { is: 'allowed'; grant: Allowed }

interface PolledRow {
  is_allowed: boolean | null
  is_expired: boolean
  is_early: boolean
  user: Allowed['user'] | null
  token_request: AccessTokenRequest | null
}

/** An answer other than to wait is given once: the row is deleted. */
export function pollDevice(
  db: Db,
  { deviceCode, clientId }: { deviceCode: string; clientId: string },
  now: Date,
): Promise<Polled> {
  const hash = hashToken(deviceCode)
  const at = now.toISOString()
  return inTransaction(db, async (trx): Promise<Polled> => {
    const { rows } = await sql<PolledRow>`
      select d.is_allowed, d.expires_at <= ${at} as is_expired, d.token_request,
        coalesce(${at}::timestamptz < d.polled_at + make_interval(secs => d.interval_seconds), false) as is_early,
        (select json_build_object('id', u.id, 'name', u.name) from users u where u.id = d.user_id) as user
      from oauth_devices d
      where d.device_hash = ${hash} and d.client_hash = ${hashToken(clientId)} for update of d`.execute(trx)
    const [row] = rows
    if (row === undefined) return { is: 'unknown' }
    if (row.is_allowed === null && !row.is_expired) {
      await sql`
        update oauth_devices set polled_at = ${at},
          interval_seconds = interval_seconds + ${row.is_early ? firstIntervalSeconds : 0}
        where device_hash = ${hash}`.execute(trx)
      return { is: row.is_early ? 'too_fast' : 'pending' }
    }
    await trx.deleteFrom('oauth_devices').where('device_hash', '=', hash).execute()
    if (row.is_expired) return { is: 'expired' }
    if (row.user === null || row.token_request === null) return { is: 'denied' }
    return { is: 'allowed', grant: { user: row.user, token_request: row.token_request } }
  })
}
