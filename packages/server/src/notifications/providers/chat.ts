// Posts a message to the incoming webhook of a chat.
import { Type } from 'typebox'
import type { Provider } from '../provider.ts'
import { urlField } from './schemas.ts'

export const chat: Provider = {
  id: 'chat',
  name: 'Chat',
  graphqlType: 'NotificationServiceSlack',
  madeBy: 'rest',
  isPinged: false,
  fields: {
    url: {
      ...urlField,
      isRequired: true,
      isSecret: true,
      // Whoever has it may write to the channel.
      shown: 'never',
      refuseChange: (_before, _after, { isConnected }) =>
        isConnected ? 'was connected through the web interface and cannot be changed' : null,
    },
    theme: {
      schema: Type.Union([Type.Literal('text'), Type.Literal('emoji')]),
      isRequired: true,
      initial: () => 'text',
      shown: 'full',
    },
  },
}
