import { sql, type RawBuilder } from 'kysely'
import { object, text, time, where, word, type JsonText } from '../../../db/json-text.ts'

/** `presentUser` in SQL; null when `id` is null. `url` is the installation's address. */
export const shownUser = (url: RawBuilder<unknown>, id: RawBuilder<unknown>): JsonText =>
  where(
    sql`${id} is not null`,
    sql`(select ${object({
      id: word(sql`u.id`),
      graphql_id: word(graphqlIdOf('User', sql`u.id`)),
      name: text(sql`u.name`),
      email: text(sql`u.email`),
      avatar_url: word(sql`${url} || '/avatars/' || u.id`),
      created_at: time(sql`u.created_at`),
    })} from users u where u.id = ${id})`,
  )

/** `graphqlId` in SQL. PostgreSQL breaks base64 after 76 characters; these texts are shorter. */
export const graphqlIdOf = (
  type: 'Agent' | 'Build' | 'Job' | 'User',
  id: RawBuilder<unknown>,
): RawBuilder<string> => sql`encode(convert_to(${sql.lit(`${type}---`)} || ${id}, 'UTF8'), 'base64')`
