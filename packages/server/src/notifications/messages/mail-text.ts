// The text of mails about builds.
import { failureOf, textIn } from './message.ts'
import type { ReadableMessage } from './readable.ts'

export interface MailText {
  subject: string
  text: string
  html: string
}

export function mailOf({
  event,
  build = {},
  pipeline = {},
  failed_jobs: failed = [],
}: ReadableMessage): MailText {
  const status =
    event === 'build.failing' ? 'is failing' : (statusTexts[textIn(build, 'state')] ?? 'has ended')
  const name = `${textIn(pipeline, 'name')} #${textIn(build, 'number')}`
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

const statusTexts: Readonly<Record<string, string>> = {
  passed: 'passed',
  failed: 'failed',
  canceled: 'was canceled',
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
