import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../../db/pool.ts'

export interface UserRow {
  id: string
  name: string
  email: string
  created_at: string
}

/** A joined user as one JSON column, null when the join found none: `${userJson('creator')} as created_by`. */
export const userJson = (alias: string): RawBuilder<UserRow | null> => {
  const column = (name: string) => sql.ref(`${alias}.${name}`)
  return sql`case when ${column('id')} is null then null else json_build_object(
    'id', ${column('id')}, 'name', ${column('name')}, 'email', ${column('email')},
    'created_at', iso(${column('created_at')})) end`
}

/** Compares addresses without case. `password_hash` is null where none was set. */
export const findCredentials = (
  db: Db,
  email: string,
): Promise<{ id: string; password_hash: string | null } | undefined> =>
  db
    .selectFrom('users')
    .select(['id', 'password_hash'])
    .where(sql`lower(email)`, '=', sql`lower(${email})`)
    .where('is_service_account', '=', false)
    .executeTakeFirst()

/** Whether the user belongs to an organization beside these. null: these are all. */
export async function isMemberElsewhere(
  db: Db,
  userId: string,
  organizationIds: readonly string[] | null,
): Promise<boolean> {
  const { rows } = await sql<{ is: boolean }>`
    select exists (
      select from organization_members m
      where m.user_id = ${userId} and m.organization_id <> all (${organizationIds}::uuid[])) as is`.execute(
    db,
  )
  return rows[0]?.is ?? false
}

export async function updateName(db: Db, userId: string, name: string): Promise<void> {
  await db.updateTable('users').set({ name }).where('id', '=', userId).execute()
}

/** Members that are programs do not sign in. */
export async function isServiceAccount(db: Db, userId: string): Promise<boolean> {
  const user = await db
    .selectFrom('users')
    .select('is_service_account')
    .where('id', '=', userId)
    .executeTakeFirst()
  return user?.is_service_account ?? false
}
