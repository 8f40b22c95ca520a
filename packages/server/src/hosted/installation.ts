import type { Db } from '../db/pool.ts'
import { newId } from '../lib/ids.ts'

/** By what an installation knows its own things in an engine that others use too. Made when it is first asked for. */
export async function getInstallationId(db: Db): Promise<string> {
  await db
    .insertInto('installation')
    .values({ id: newId() })
    .onConflict((taken) => taken.doNothing())
    .execute()
  const { id } = await db.selectFrom('installation').select('id').executeTakeFirstOrThrow()
  return id
}
