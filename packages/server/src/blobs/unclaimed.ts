// Which objects nobody needs. A key is written down before its object; the transaction that begins to refer to the
// object takes the key out again, and the one that stops referring to it writes it down. So whatever dies in
// between, every object is either referred to or listed here, and what is listed is deleted when its time has come.
import { sql } from 'kysely'
import type { Db, Trx } from '../db/pool.ts'
import type { BlobStore } from './store.ts'

/** Longer than any upload takes. */
const leaseHours = 24

/** Before the object is written. */
export async function announce(db: Db, key: string): Promise<void> {
  await sql`
    insert into unclaimed_blobs (key, delete_after)
    values (${key}, now() + make_interval(hours => ${leaseHours}))`.execute(db)
}

/** False: the object took too long, and may be gone already. */
export async function claim(trx: Trx, key: string): Promise<boolean> {
  const { rows } = await sql`delete from unclaimed_blobs where key = ${key} returning key`.execute(trx)
  return rows.length > 0
}

export async function release(db: Db, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return
  await sql`
    insert into unclaimed_blobs (key, delete_after) select unnest(${keys}::text[]), now()
    on conflict (key) do update set delete_after = now()`.execute(db)
}

/** Deletes these objects now, if they are due. One that cannot be deleted stays listed. */
export async function removeReleased(db: Db, blobs: BlobStore, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    await blobs.delete(key)
    await sql`delete from unclaimed_blobs where key = ${key} and delete_after <= now()`.execute(db)
  }
}

const batch = 200

/** Deletes all that is due. */
export async function removeUnclaimed(db: Db, blobs: BlobStore): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ key: string }>`
      select key from unclaimed_blobs where delete_after <= now() order by delete_after limit ${batch}`.execute(
      db,
    )
    await removeReleased(
      db,
      blobs,
      rows.map(({ key }) => key),
    )
    if (rows.length < batch) return
  }
}
