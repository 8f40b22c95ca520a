// Links that sign a person in once. Only the hash of a link's code is stored.
import { sql } from 'kysely'
import type { Db } from '../db/pool.ts'
import { hashToken, newToken } from '../lib/ids.ts'

const hours = 24

/** Returns the code for the address `/sign-in?code=…`. */
export async function createSignInLink(db: Db, userId: string): Promise<string> {
  const code = newToken('mrsl_')
  await db
    .insertInto('sign_in_links')
    .values({
      code_hash: hashToken(code),
      user_id: userId,
      expires_at: sql<string>`now() + make_interval(hours => ${hours})`,
    })
    .execute()
  return code
}

export interface LinkedUser {
  id: string
  name: string
  email: string
}

export async function findSignInLink(db: Db, code: string): Promise<LinkedUser | undefined> {
  return db
    .selectFrom('sign_in_links as l')
    .innerJoin('users as u', 'u.id', 'l.user_id')
    .select(['u.id', 'u.name', 'u.email'])
    .where('l.code_hash', '=', hashToken(code))
    .where('l.expires_at', '>', sql<string>`now()`)
    .executeTakeFirst()
}

/** Deletes the link, so that it works once. Returns the id of its user. */
export async function takeSignInLink(db: Db, code: string): Promise<string | null> {
  const taken = await db
    .deleteFrom('sign_in_links')
    .where('code_hash', '=', hashToken(code))
    .where('expires_at', '>', sql<string>`now()`)
    .returning('user_id')
    .executeTakeFirst()
  return taken?.user_id ?? null
}
