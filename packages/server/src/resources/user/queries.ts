import { sql, type RawBuilder } from 'kysely'

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
