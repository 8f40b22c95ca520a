// Posts a message to the incoming webhook of a chat.
import { Type } from 'typebox'
import { expectTaken, wantsStates, type Provider, type Sender, type Service } from '../provider.ts'
import { branchQueue, type Message } from '../messages/message.ts'
import { readable } from '../messages/readable.ts'
import { chatText } from './chat-text.ts'
import { urlField } from './schemas.ts'

interface ChatSettings {
  url: string
  theme: 'text' | 'emoji'
}

export const chat: Provider = {
  id: 'chat',
  name: 'Chat',
  graphqlType: 'NotificationServiceSlack',
  madeBy: 'rest',
  isPinged: false,
  summary: 'A message to the incoming webhook of a chat.',
  selectsBy: 'build_states',
  fields: {
    url: {
      ...urlField,
      label: 'Address',
      isRequired: true,
      isSecret: true,
      // The URL is enough to write to the channel.
      shown: 'never',
      refuseChange: (_before, _after, { isConnected }) =>
        isConnected ? 'was connected through the web interface and cannot be changed' : null,
    },
    theme: {
      label: 'Look of messages',
      schema: Type.Union([Type.Literal('text'), Type.Literal('emoji')], {
        description: 'Whether messages have emoji or are plain text.',
      }),
      isRequired: true,
      initial: () => 'text',
      shown: 'full',
    },
  },
}

export const chatSender: Sender = {
  wants: wantsStates,
  queue: branchQueue,
  async deliver({ id, message, service, send }) {
    const response = await send({
      method: 'POST',
      url: settingsOf(service).url,
      isSecretUrl: true,
      headers: { 'Content-Type': 'application/json', 'X-Millrace-Delivery': id },
      body: bodyOf(service, message),
    })
    expectTaken(response)
  },
  preview: bodyOf,
}

/** Settings are checked against their schemas before they are stored. */
const settingsOf = ({ settings }: Service) => settings as unknown as ChatSettings

function bodyOf(service: Service, message: Message): string {
  return JSON.stringify({ text: chatText(readable(message), settingsOf(service).theme), unfurl_links: false })
}
