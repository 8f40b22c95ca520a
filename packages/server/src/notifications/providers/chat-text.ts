// The text of chat messages about builds, in the markup of incoming webhooks.
import { textIn, type FailedJob } from '../messages/message.ts'
import type { ReadableMessage } from '../messages/readable.ts'
import { nameOf, statusTextOf } from '../messages/status-text.ts'

export function chatText(message: ReadableMessage, theme: 'text' | 'emoji'): string {
  const { build, pipeline, job, organization } = message
  if (build === undefined || pipeline === undefined) {
    return `Millrace can write here: ${link(textIn(organization, 'web_url'), textIn(organization, 'name'))}`
  }
  const { text, emoji } = statusTextOf(message)
  const revision = `${escaped(textIn(build, 'branch'))} · ${escaped(textIn(build, 'commit').slice(0, 10))}`
  const lines = [
    `${theme === 'emoji' ? `${emoji} ` : ''}${link(textIn(build, 'web_url'), nameOf(message))} ${text} (${revision})`,
    escaped(firstLine(textIn(build, 'message'))),
    job === undefined ? '' : `${escaped(textIn(job, 'name') || 'A step')} was unblocked${by(message)}`,
    ...(message.failed_jobs ?? []).map(failure),
  ]
  return lines.filter((line) => line !== '').join('\n')
}

const by = ({ sender }: ReadableMessage) => (sender === null ? '' : ` by ${escaped(sender.name)}`)

const failure = ({ name, state, exit_status: status, web_url: url }: FailedJob) =>
  `• ${link(url, name ?? 'A job')} ${state === 'failed' && status !== null ? `failed with exit status ${status}` : state.replaceAll('_', ' ')}`

const firstLine = (text: string) => (text.split('\n')[0] ?? '').slice(0, 200)

const link = (url: string, label: string) => `<${url}|${escaped(label).replaceAll('|', '¦')}>`

/** Names of branches and jobs must not be able to mention everybody in a channel. */
export const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
