import type { Static } from 'typebox'
import { graphqlId } from '../../../lib/ids.ts'
import type { UserRow } from './queries.ts'
import type { Person, User } from './schema.ts'

export const presentUser = (url: string, user: UserRow): Static<typeof User> => ({
  id: user.id,
  graphql_id: graphqlId('User', user.id),
  name: user.name,
  email: user.email,
  avatar_url: `${url}/avatars/${user.id}`,
  created_at: user.created_at,
})

export const presentUserOrNull = (url: string, user: UserRow | null): Static<typeof User> | null =>
  user === null ? null : presentUser(url, user)

export const presentPersonOrNull = (user: UserRow | null): Static<typeof Person> | null =>
  user === null ? null : { id: user.id, name: user.name, email: user.email }
