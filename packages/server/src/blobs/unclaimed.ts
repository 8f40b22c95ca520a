// The list of objects that no row refers to. A key is listed before its object is stored. The transaction that adds a reference
// takes the key off the list, and the transaction that deletes the reference lists it again. So even after a crash every
// object is either referred to or listed, and listed objects are deleted when they are due.
import { sql, type RawBuilder } from 'kysely'
import type { Db, Trx } from '../db/pool.ts'
import type { BlobStore } from './store.ts'

/** Longer than any upload takes. */
const leaseHours = 24

/** Lists the key before the object is stored. */
export async function announce(db: Db, key: string): Promise<void> {
  await sql`
    insert into unclaimed_blobs (key, delete_after)
    values (${key}, now() + make_interval(hours => ${leaseHours}))`.execute(db)
}

export async function announceAll(db: Db, keys: readonly string[]): Promise<void> {
  await sql`
    insert into unclaimed_blobs (key, delete_after)
    select key, now() + make_interval(hours => ${leaseHours}) from unnest(${keys}::text[]) key`.execute(db)
}

/** Takes the key off the list. False: storing took too long, and the object may be deleted already. */
export async function claim(trx: Trx, key: string): Promise<boolean> {
  const { rows } = await sql`delete from unclaimed_blobs where key = ${key} returning key`.execute(trx)
  return rows.length > 0
}

/** For objects that were just stored. */
export async function claimAll(trx: Trx, keys: readonly string[]): Promise<void> {
  const { rows } = await sql`
    delete from unclaimed_blobs where key = any (${keys}::text[]) returning key`.execute(trx)
  if (rows.length !== keys.length)
    throw new Error('The objects took longer to write than unclaimed objects are kept.')
}

export async function release(db: Db, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return
  await sql`
    insert into unclaimed_blobs (key, delete_after) select unnest(${keys}::text[]), now()
    on conflict (key) do update set delete_after = now()`.execute(db)
}

/** PostgreSQL rounds a time to milliseconds when it is stored, so what is due now may be stored as due in half a millisecond. */
const isDue = sql`delete_after <= now() + interval '1 millisecond'`

/** Deletes these objects now, if they are due. A failed deletion stays listed. */
export async function deleteReleased(db: Db, blobs: BlobStore, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    await blobs.delete(key)
    await sql`delete from unclaimed_blobs where key = ${key} and ${isDue}`.execute(db)
  }
}

/** The keys that are due. `isWanted` is a condition on `unclaimed_blobs`. */
export async function listUnclaimed(db: Db, isWanted: RawBuilder<boolean>, limit: number): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select key from unclaimed_blobs where ${isDue} and ${isWanted} order by delete_after limit ${limit}`.execute(
    db,
  )
  return rows.map(({ key }) => key)
}

const batch = 200

/** For a command. Workers go on after a key that fails. */
export async function deleteUnclaimed(db: Db, blobs: BlobStore): Promise<void> {
  for (;;) {
    const keys = await listUnclaimed(db, sql`true`, batch)
    await deleteReleased(db, blobs, keys)
    if (keys.length < batch) return
  }
}
