// `Idempotency-Key`: the first answer is stored for a day and sent again for the same request. The key, the change and
// the answer are one transaction, so a process that dies leaves none of them. That transaction holds an advisory lock,
// by which a second request finds out that the first is still in flight. A key belongs to the token or session that sent it, so a
// narrower one never gets the answer of a broader one of the same person. Answers may contain tokens and requests may
// contain secrets, so the answer is stored encrypted, and the request as a keyed hash.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Caller } from '../auth/caller.ts'
import type { Keyring } from '../auth/keyring.ts'
import type { Context } from '../context.ts'
import type { Db, Trx } from '../db/pool.ts'
import { inSavepoint, inTransaction } from '../db/transaction.ts'
import { ApiError, badRequest, conflict, refused } from '../lib/errors.ts'
import { keepLease, leaseEnd } from '../tasks/lease.ts'
import type { Answer } from './answer.ts'
import { errorBody } from './error-body.ts'

export interface KeyedRequest {
  key: string
  caller: Caller
  /** A hash of method, path, query and body. A request with the same key must have the same one. */
  fingerprint: Buffer
}

const mostKeyLength = 255

export function readKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null
  const key = [header].flat().join(',')
  if (key.length === 0 || key.length > mostKeyLength || !/^[\x20-\x7e]+$/.test(key)) {
    throw badRequest(`Idempotency-Key must be 1 to ${mostKeyLength} printable ASCII characters.`)
  }
  return key
}

export const fingerprint = (method: string, url: string, body: unknown): Buffer =>
  createHash('sha256')
    .update(`${method} ${url}\n${JSON.stringify(body) ?? ''}`)
    .digest()

/**
 * Runs `work` once for this key, with a context whose database is the key's transaction. Follow-ups in other builds run
 * after the commit, because inside of the transaction they would take locks in the wrong order.
 */
export async function once(
  ctx: Context,
  request: KeyedRequest,
  work: (ctx: Context) => Promise<Answer>,
): Promise<Answer> {
  const following: Array<(ctx: Context) => Promise<void>> = []
  const afterCommit = (follow: (ctx: Context) => Promise<void>) => void following.push(follow)
  const answer = await inTransaction(ctx.db, async (trx) => {
    following.length = 0
    const stored = await claim(trx, ctx.keys, request)
    if (stored !== null) return stored
    const working = inSavepoint(trx, () => work({ ...ctx, db: trx, afterCommit }))
    const answer = await working.catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.status >= 500) throw error
      following.length = 0
      return { status: error.status, body: errorBody(error) }
    })
    await store(trx, ctx.keys, request, answer)
    return answer
  })
  for (const follow of following) await follow(ctx)
  return answer
}

/**
 * The same for work that calls other systems, which may take long, and so runs in no transaction and holds no connection: a
 * lease in the row of the key is renewed until it ends. If the process dies, no answer is stored, and the operation runs again. One
 * that is not safe to repeat marks the key in the transaction of its change, with `isFirstWrite`.
 */
export async function onceOutside(
  ctx: Context,
  request: KeyedRequest,
  work: (ctx: Context) => Promise<Answer>,
): Promise<Answer> {
  const stored = await inTransaction(
    ctx.db,
    async (trx) => (await claim(trx, ctx.keys, request)) ?? hold(trx, ctx.keys, request),
  )
  if (stored !== null) return stored
  const ended = new AbortController()
  const renew = () => renewHold(ctx.db, request)
  void keepLease(ended.signal, renewMs, { renew, onLost() {} })
  try {
    const answer = await work({ ...ctx, isFirstWrite: (trx) => markWritten(trx, request) })
    await store(ctx.db, ctx.keys, request, answer)
    return answer
  } catch (error) {
    // Otherwise the lease ends by itself.
    await endHold(ctx.db, request).catch(() => {})
    throw error
  } finally {
    ended.abort()
  }
}

const holdSeconds = 60
const renewMs = 15_000

/** Returns that there is no answer yet. */
async function hold(trx: Trx, keys: Keyring, request: KeyedRequest): Promise<null> {
  const signed = keys.sign(purpose, request.fingerprint.toString('hex'))
  await sql`
    insert into idempotency_keys (user_id, key, fingerprint, status, headers, held_until)
    values (${request.caller.user.id}, ${ownKey(request)}, ${signed}, ${placeholder}, '{}', ${holdEnd})
    on conflict (user_id, key) do update set fingerprint = excluded.fingerprint, status = excluded.status,
      headers = excluded.headers, body = null, held_until = excluded.held_until, created_at = now(),
      is_written = idempotency_keys.is_written and idempotency_keys.fingerprint = excluded.fingerprint`.execute(
    trx,
  )
  return null
}

const holdEnd = leaseEnd(sql`now()`, holdSeconds)

const isHeldBy = (request: KeyedRequest) => sql`
  user_id = ${request.caller.user.id} and key = ${ownKey(request)} and held_until is not null`

async function renewHold(db: Db, request: KeyedRequest): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update idempotency_keys set held_until = ${holdEnd} where ${isHeldBy(request)}`.execute(db)
  return numAffectedRows === 1n
}

/** For work that failed, so that the request can be repeated at once. */
const endHold = (db: Db, request: KeyedRequest): Promise<unknown> =>
  sql`update idempotency_keys set held_until = now() where ${isHeldBy(request)}`.execute(db)

/** False if the key is marked already. */
async function markWritten(trx: Trx, request: KeyedRequest): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update idempotency_keys set is_written = true where ${isHeldBy(request)} and not is_written`.execute(trx)
  return numAffectedRows === 1n
}

async function claim(trx: Trx, keys: Keyring, request: KeyedRequest): Promise<Answer | null> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${lockKey(request)}) as locked`.execute(trx)
  if (rows[0]?.locked !== true) throw inFlight()
  return findStored(trx, keys, request)
}

const inFlight = () =>
  conflict('A request with this Idempotency-Key is still in flight. Ask again in a moment.')

async function findStored(db: Db, keys: Keyring, request: KeyedRequest): Promise<Answer | null> {
  const { key, caller, fingerprint } = request
  const rows = await db
    .selectFrom('idempotency_keys')
    .select(['key', 'fingerprint', 'status', 'headers', 'body', 'held_until'])
    .select(sql<boolean>`coalesce(held_until > now(), false)`.as('is_held'))
    .where('user_id', '=', caller.user.id)
    .where('key', 'in', [ownKey(request), key])
    .where('created_at', '>', sql<string>`now() - interval '24 hours'`)
    .execute()
  if (rows.some((row) => row.is_held)) throw inFlight()
  const stored = rows.find((row) => row.key !== key && row.held_until === null)
  if (stored === undefined && rows.every(({ status }) => status === placeholder)) return null
  // The previous release did not say whose answer it stored.
  if (stored === undefined) throw usedBefore()
  if (!keys.verify(purpose, fingerprint.toString('hex'), stored.fingerprint)) {
    throw usedBefore()
  }
  return {
    status: stored.status,
    headers: { ...(stored.headers as Record<string, string>), 'Idempotency-Replayed': 'true' },
    ...(stored.body === null ? {} : { json: openBody(keys, stored.body) }),
  }
}

async function store(db: Db, keys: Keyring, request: KeyedRequest, answer: Answer): Promise<void> {
  const { key, caller, fingerprint } = request
  const body = answer.json?.toString() ?? (answer.body === undefined ? null : JSON.stringify(answer.body))
  const row = {
    fingerprint: keys.sign(purpose, fingerprint.toString('hex')),
    status: answer.status,
    headers: JSON.stringify(answer.headers ?? {}),
    body: body === null ? null : sealBody(keys, body),
    created_at: sql<string>`now()`,
    held_until: null,
  }
  const forPreviousRelease = {
    ...row,
    fingerprint: Buffer.alloc(0),
    status: placeholder,
    headers: '{}',
    body: null,
  }
  await db
    .insertInto('idempotency_keys')
    .values([
      { user_id: caller.user.id, key: ownKey(request), ...row },
      { user_id: caller.user.id, key, ...forPreviousRelease },
    ])
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'key']).doUpdateSet(({ ref }) => ({
        fingerprint: ref('excluded.fingerprint'),
        status: ref('excluded.status'),
        headers: ref('excluded.headers'),
        body: ref('excluded.body'),
        created_at: ref('excluded.created_at'),
        held_until: ref('excluded.held_until'),
      })),
    )
    .execute()
}

/**
 * The status of a row with the plain key, which a server of the previous release finds, and refuses the request because the
 * fingerprint is another. The next release does without these rows.
 */
const placeholder = 0

/** A session is a credential of its own, also if a token opened it. No key that a caller sends has a line break. */
const ownKey = ({ caller: { session, token }, key }: KeyedRequest): string =>
  session === null ? `token ${token.id}\n${key}` : `session ${session.id}\n${key}`

const usedBefore = () =>
  refused('This Idempotency-Key was used with another request. Use a new key for a new request.')

const purpose = 'idempotency'

function sealBody(keys: Keyring, body: string): string {
  const { sealed, keyId } = keys.seal(body)
  return `${keyId} ${sealed.toString('base64')}`
}

function openBody(keys: Keyring, stored: string): string {
  const [keyId = '', sealed = ''] = stored.split(' ')
  return keys.open(Buffer.from(sealed, 'base64'), keyId)
}

const lockKey = ({ key, caller }: KeyedRequest): string =>
  createHash('sha256').update(`${caller.user.id} ${key}`).digest().readBigInt64BE(0).toString()
