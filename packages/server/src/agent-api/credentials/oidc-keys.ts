// The keys that sign identity tokens. A key signs for a month and stays published for another, so that its tokens can
// still be verified.
import { createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import type { Db } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { newId } from '../../lib/ids.ts'

const generate = promisify(generateKeyPair)
const signsForDays = 30
const isFoundForDays = 60

interface SigningKey {
  id: string
  privateKey: KeyObject
}

/** Creates the first key, and a new one every month. */
export async function getSigningKey(ctx: Context): Promise<SigningKey> {
  const current = await findNewest(ctx, ctx.db)
  return current ?? addKey(ctx)
}

/** As a JSON Web Key Set. */
export async function listPublicKeys(ctx: Context): Promise<unknown[]> {
  await getSigningKey(ctx)
  const { rows } = await sql<{ public_jwk: unknown }>`
    select public_jwk from oidc_keys where retired_at is null order by created_at desc`.execute(ctx.db)
  return rows.map(({ public_jwk }) => public_jwk)
}

async function findNewest(ctx: Context, db: Db): Promise<SigningKey | null> {
  const { rows } = await sql<{ id: string; sealed: Buffer; keyId: string }>`
    select id, private_key_sealed as sealed, private_key_id as "keyId" from oidc_keys
    where created_at > ${daysAgo(ctx, signsForDays)} order by created_at desc limit 1`.execute(db)
  const [row] = rows
  return row === undefined
    ? null
    : { id: row.id, privateKey: createPrivateKey(ctx.keys.open(row.sealed, row.keyId)) }
}

/** If several processes find no key, one of them creates it. */
async function addKey(ctx: Context): Promise<SigningKey> {
  const { privateKey, publicKey } = await generate('rsa', { modulusLength: 2048 })
  return inTransaction(ctx.db, async (trx) => {
    await sql`lock table oidc_keys in share row exclusive mode`.execute(trx)
    const other = await findNewest(ctx, trx)
    if (other !== null) return other
    const id = newId()
    const { sealed, keyId } = ctx.keys.seal(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid: id, alg: 'RS256', use: 'sig' }
    await trx
      .insertInto('oidc_keys')
      .values({
        id,
        private_key_sealed: sealed,
        private_key_id: keyId,
        public_jwk: JSON.stringify(jwk),
        created_at: ctx.now().toISOString(),
      })
      .execute()
    await sql`
      update oidc_keys set retired_at = ${ctx.now().toISOString()}
      where retired_at is null and created_at <= ${daysAgo(ctx, isFoundForDays)}`.execute(trx)
    return { id, privateKey }
  })
}

const daysAgo = (ctx: Context, days: number) =>
  new Date(ctx.now().getTime() - days * 86_400_000).toISOString()
