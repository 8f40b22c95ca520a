// Writes to a channel of a chat workspace that a person has connected.
import { Type } from 'typebox'
import type { Provider } from '../provider.ts'
import { credential, managed } from './schemas.ts'

export const chatWorkspace: Provider = {
  id: 'chat_workspace',
  name: 'Chat Workspace',
  graphqlType: null,
  madeBy: 'web',
  isPinged: false,
  fields: {
    workspace_id: { ...managed, schema: Type.String() },
    workspace_name: { ...managed, schema: Type.String() },
    channel: {
      schema: Type.String({
        minLength: 1,
        maxLength: 255,
        pattern: '^\\S+$',
        description: 'must be the name or the id of a channel, without spaces',
        examples: ['#builds'],
      }),
      isRequired: true,
      shown: 'full',
    },
    access_token: credential,
    refresh_token: credential,
    token_expires_at: { ...managed, schema: Type.String() },
  },
}
