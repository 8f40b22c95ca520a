// The text of an issue about a failed build, in Markdown.
import { failureOf, textIn } from '../messages/message.ts'
import type { ReadableMessage } from '../messages/readable.ts'

export function issueText({ build = {}, pipeline = {}, failed_jobs: failed = [] }: ReadableMessage): {
  title: string
  description: string
} {
  const name = `${textIn(pipeline, 'name')} #${textIn(build, 'number')}`
  const title = `${textIn(pipeline, 'name')} fails on ${textIn(build, 'branch')}`
  const lines = [
    `[${escaped(name)}](${textIn(build, 'web_url')}) failed at commit ${code(textIn(build, 'commit').slice(0, 40))}.`,
    quoted(textIn(build, 'message').split('\n')[0] ?? ''),
    failed.map((job) => `- [${escaped(job.name ?? 'A job')}](${job.web_url}): ${failureOf(job)}`).join('\n'),
    'This issue is closed when a build of the branch passes.',
  ]
  return {
    title: title.replaceAll(/\s+/g, ' ').slice(0, 250),
    description: lines.filter((line) => line !== '').join('\n\n'),
  }
}

const quoted = (text: string) => (text.trim() === '' ? '' : `> ${escaped(text.slice(0, 500))}`)

const code = (text: string) => `\`${text.replaceAll('`', '')}\``

/** Names of branches and jobs must not contain Markdown or mentions. */
const escaped = (text: string) =>
  text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_{}[\]()#+!|<>~@]/g, (sign) => `\\${sign}`)
