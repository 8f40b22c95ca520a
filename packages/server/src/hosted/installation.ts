import type { Db } from '../db/pool.ts'
import { newId } from '../lib/ids.ts'

/** Labels the installation's own objects in an engine that others share. Created at first use. */
export async function getInstallationId(db: Db): Promise<string> {
  await db
    .insertInto('installation')
    .values({ id: newId() })
    .onConflict((taken) => taken.doNothing())
    .execute()
  const { id } = await db.selectFrom('installation').select('id').executeTakeFirstOrThrow()
  return id
}
