// The text of a comment with failing lines, in Markdown that all hosts understand. Pure.
//
// Names of jobs and lines of logs are written by others. They stand in indented blocks: every line of a block begins with four spaces,
// so no line can end the block, be a command to the host or be more than text.
import { cutText } from '../../log/screen/plain-text.ts'

interface FailedBuild {
  state: 'failed' | 'passed'
  /** `organization/pipeline` */
  address: string
  number: number
  commit: string
  url: string
}

export interface FailedJob {
  id: string
  name: string
  rows: readonly string[]
}

/** How many jobs are shown, and how many rows of each. */
export const mostJobs = 10
export const mostRows = 20
const longestRow = 240
/** Bitbucket takes 32,768 characters, and MySQL below an old Gitea 65,535 bytes. */
export const longestText = 20_000

/** The marker is not shown: it is the title of a link that nothing uses. */
export function commentText(build: FailedBuild, jobs: readonly FailedJob[], marker: string): string {
  const link = `[${build.address} #${build.number}](${build.url})`
  const commit = build.commit.slice(0, 12)
  const end = `\n\n[//]: # (millrace ${marker})\n`
  if (build.state === 'passed') return `**${link} passed** at commit ${commit}.${end}`
  const more = '\n\nThe link has the other failed jobs.'
  let text = `**${link} failed** at commit ${commit}.`
  for (const [index, job] of jobs.entries()) {
    const part = `\n\n[Failed job](${build.url}#${job.id}):\n\n${block(job.rows.length === 0 ? [job.name] : [job.name, '', ...job.rows])}`
    if (index === mostJobs || text.length + part.length + more.length + end.length > longestText)
      return `${text}${more}${end}`
    text += part
  }
  return `${text}${end}`
}

const block = (lines: readonly string[]): string => lines.map((line) => `    ${harmless(line)}`).join('\n')

/** Without line breaks and invisible characters. Nobody is mentioned, even by a host that looks for names in blocks. */
const harmless = (line: string): string =>
  cutText(line, longestRow)
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')
    .replaceAll('@', '@\u200b')
