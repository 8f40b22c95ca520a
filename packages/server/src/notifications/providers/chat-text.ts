// What a chat is told of a build, in the notation that incoming webhooks of chats understand.
import type { FailedJob, Message, Shown } from '../message.ts'
import type { BuildStateName } from '../names.ts'

/** The most telling first: a fixed build has passed as well. */
const sayings: ReadonlyArray<[BuildStateName, { says: string; emoji: string }]> = [
  ['build_fixed', { says: 'is fixed', emoji: ':tada:' }],
  ['build_passed', { says: 'passed', emoji: ':white_check_mark:' }],
  ['build_failing', { says: 'is failing', emoji: ':warning:' }],
  ['build_failed', { says: 'failed', emoji: ':x:' }],
  ['build_canceled', { says: 'was canceled', emoji: ':no_entry_sign:' }],
  ['build_blocked', { says: 'waits to be unblocked', emoji: ':double_vertical_bar:' }],
  ['job_activated', { says: 'goes on', emoji: ':arrow_forward:' }],
]

export function chatText(message: Message, theme: 'text' | 'emoji'): string {
  const { build, pipeline, job, organization } = message
  if (build === undefined || pipeline === undefined) {
    return `Millrace can write here: ${link(field(organization, 'web_url'), field(organization, 'name'))}`
  }
  const saying = sayings.find(([state]) => message.states.includes(state))?.[1]
  const name = `${field(pipeline, 'name')} #${field(build, 'number')}`
  const emoji = theme === 'emoji' && saying !== undefined ? `${saying.emoji} ` : ''
  const place = `${escaped(field(build, 'branch'))} · ${escaped(field(build, 'commit').slice(0, 10))}`
  const lines = [
    `${emoji}${link(field(build, 'web_url'), name)} ${saying?.says ?? 'changed'} (${place})`,
    escaped(firstLine(field(build, 'message'))),
    job === undefined ? '' : `${escaped(field(job, 'name') || 'A step')} was unblocked${by(message)}`,
    ...(message.failed_jobs ?? []).map(failure),
  ]
  return lines.filter((line) => line !== '').join('\n')
}

const by = ({ sender }: Message) => (sender === null ? '' : ` by ${escaped(sender.name)}`)

const failure = ({ name, state, exit_status: status, web_url: url }: FailedJob) =>
  `• ${link(url, name ?? 'A job')} ${state === 'failed' && status !== null ? `failed with exit status ${status}` : state.replaceAll('_', ' ')}`

function field(thing: Shown, name: string): string {
  const value = thing[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

const firstLine = (text: string) => (text.split('\n')[0] ?? '').slice(0, 200)

const link = (url: string, label: string) => `<${url}|${escaped(label).replaceAll('|', '¦')}>`

/** People who name branches and jobs must not be able to call everybody in a channel. */
const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
