import type { Static } from 'typebox'
import type { Caller } from '../../../auth/caller.ts'
import type { AccessToken } from './schema.ts'

export const presentAccessToken = (id: string, { token, user }: Caller): Static<typeof AccessToken> => ({
  uuid: id,
  scopes: [...token.scopes],
  description: token.description,
  created_at: token.created_at,
  expires_at: token.expires_at,
  user: { name: user.name, email: user.email },
})
