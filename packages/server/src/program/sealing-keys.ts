// All servers of a database must be able to open what any of them seals.
import { sql } from 'kysely'
import { keyId } from '../auth/keyring.ts'
import { StartupError } from '../db/embedded/startup-error.ts'
import type { Db } from '../db/pool.ts'
import { inTransaction } from '../db/transaction.ts'

/** Refuses keys without the one that was used last; else records that the first of these seals from now on. */
export async function useSealingKeys(db: Db, secrets: readonly string[]): Promise<void> {
  const [first, ...others] = secrets.map(keyId)
  if (first === undefined) return
  await inTransaction(db, async (trx) => {
    // The first of several servers on a new database decides.
    await sql`lock table sealing_keys in share row exclusive mode`.execute(trx)
    const last = await trx
      .selectFrom('sealing_keys')
      .select('key_id')
      .orderBy('last_used_at', 'desc')
      .limit(1)
      .executeTakeFirst()
    if (last !== undefined && ![first, ...others].includes(last.key_id)) throw otherKey()
    await sql`
      insert into sealing_keys (key_id, last_used_at) values (${first}, clock_timestamp())
      on conflict (key_id) do update set last_used_at = excluded.last_used_at`.execute(trx)
  })
}

/** For a restore without the key: values sealed with it cannot be opened, and another key may be used. */
export async function deleteSealingKeys(db: Db): Promise<void> {
  await db.deleteFrom('sealing_keys').execute()
}

const otherKey = () =>
  new StartupError(
    'The secrets in this database are sealed with another key: set MILLRACE_SECRET_KEY to the key that the other servers have, ' +
      'or copy the file secret-key of their data directory; to change keys, put the new one in front (new,old). ' +
      'If that key is lost, back up and restore without it: the secrets are lost too.',
  )
