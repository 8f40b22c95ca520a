// Writes to a channel of a chat workspace that a person has connected.
import { Type } from 'typebox'
import { branchQueue, type Message } from '../messages/message.ts'
import { DeliveryFailed, wantsStates, type Provider, type Sender, type Service } from '../provider.ts'
import { callChat } from './chat-api.ts'
import { readable } from '../messages/readable.ts'
import { chatText } from './chat-text.ts'
import { connectedFields } from './schemas.ts'

export const chatWorkspace: Provider = {
  id: 'chat_workspace',
  name: 'Chat Workspace',
  graphqlType: null,
  madeBy: 'web',
  isPinged: false,
  summary: 'Messages to a channel of a chat workspace.',
  selectsBy: 'build_states',
  fields: connectedFields({
    channel: {
      label: 'Channel',
      schema: Type.String({
        minLength: 1,
        maxLength: 255,
        pattern: '^\\S+$',
        description: 'Must be the name or the id of a channel, without spaces.',
        examples: ['#builds'],
      }),
      isRequired: true,
      shown: 'full',
    },
  }),
  connecting: {
    choice: { key: 'channel', label: 'Channel', hint: '#builds' },
    buildStates: ['build_failed', 'build_fixed'],
    async readSettings(session, channel) {
      const { team_id: id, team: name } = await callChat(session, 'auth.test', {})
      if (typeof id !== 'string' || id === '') {
        throw new DeliveryFailed('The chat workspace did not say which one it is.', { isFinal: true })
      }
      return { workspace_id: id, workspace_name: typeof name === 'string' ? name : id, channel }
    },
  },
}

export const chatWorkspaceSender: Sender = {
  wants: wantsStates,
  queue: branchQueue,
  async deliver({ id, message, service, openSession }) {
    await callChat(openSession(), 'chat.postMessage', messageFor(service, message), id)
  },
  preview: (service, message) => JSON.stringify(messageFor(service, message)),
}

const messageFor = ({ settings }: Service, message: Message) => ({
  channel: settings['channel'],
  text: chatText(readable(message), 'emoji'),
  unfurl_links: false,
})
