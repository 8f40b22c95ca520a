// The text of mails about builds and groups of steps.
import { failureOf, textIn } from './message.ts'
import type { ReadableMessage } from './readable.ts'
import { nameOf, statusTextOf } from './status-text.ts'

export interface MailText {
  subject: string
  text: string
  html: string
}

export function mailOf(about: ReadableMessage): MailText {
  const { build = {}, failed_jobs: failed = [] } = about
  const status = statusOf(about)
  const name = nameOf(about)
  const revision = `${textIn(build, 'branch')}, ${textIn(build, 'commit').slice(0, 10)}`
  const message = textIn(build, 'message').split('\n')[0]?.slice(0, 500) ?? ''
  const lines = failed.map((job) => ({
    label: `${job.name ?? 'A job'}: ${failureOf(job)}`,
    url: job.web_url,
  }))
  return {
    subject: `${name} ${status} (${textIn(build, 'branch')})`.replaceAll(/\s+/g, ' ').slice(0, 250),
    text: [
      `${name} ${status} (${revision})`,
      ...(message === '' ? [] : ['', message]),
      ...(lines.length === 0 ? [] : ['', ...lines.map(({ label, url }) => `- ${label}\n  ${url}`)]),
      '',
      textIn(build, 'web_url'),
      '',
    ].join('\n'),
    html: [
      `<p><a href="${escaped(textIn(build, 'web_url'))}">${escaped(name)}</a> ${status} (${escaped(revision)})</p>`,
      ...(message === '' ? [] : [`<p>${escaped(message)}</p>`]),
      ...(lines.length === 0
        ? []
        : [
            '<ul>',
            ...lines.map(({ label, url }) => `<li><a href="${escaped(url)}">${escaped(label)}</a></li>`),
            '</ul>',
          ]),
    ].join('\n'),
  }
}

function statusOf(about: ReadableMessage): string {
  if (about.step !== undefined) return statusTextOf(about).text
  if (about.event === 'build.failing') return 'is failing'
  return statusTexts[textIn(about.build ?? {}, 'state')] ?? 'has ended'
}

const statusTexts: Readonly<Record<string, string>> = {
  passed: 'passed',
  failed: 'failed',
  canceled: 'was canceled',
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
