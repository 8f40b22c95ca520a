// A line in a Campfire room, which shows links and emphasis of HTML.
import { textIn } from '../messages/message.ts'
import type { ReadableMessage } from '../messages/readable.ts'
import { nameOf, statusTextOf } from '../messages/status-text.ts'

export function campfireBody(message: ReadableMessage): string {
  const { build = {} } = message
  const revision = `${textIn(build, 'branch')} · ${textIn(build, 'commit').slice(0, 10)}`
  const link = `<a href="${escaped(textIn(build, 'web_url'))}">${escaped(nameOf(message))}</a>`
  return JSON.stringify({ content: `${link} ${statusTextOf(message).text} (${escaped(revision)})` })
}

const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
