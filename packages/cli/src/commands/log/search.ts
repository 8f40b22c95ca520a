import { InvalidArgumentError, Option, type Command } from 'commander'
import { clientCommand, readCount } from '../../client/command.ts'
import type { SearchOptions } from '../../client/log-search/search.ts'
import { notBlank } from '../../command.ts'

export const logSearch = (): Command =>
  clientCommand(
    'search',
    'Search the logs of many builds, newest first: what failed jobs said, or whole logs. Ctrl-C stops it.',
    'logs search "connection refused" --in logs --branch main --from 7d',
  )
    .argument('<query>', 'a text, or with --regex an expression', notBlank)
    .addOption(
      new Option('--in <where>', 'what failed jobs said, or whole logs of all jobs')
        .choices(['failures', 'logs'])
        .default('failures'),
    )
    .option('--regex', 'the query is a regular expression in the syntax of RE2')
    .option('--case', 'distinguish upper and lower case')
    .option('-p, --pipeline <slug>', 'only of this pipeline', notBlank)
    .option('-b, --branch <name>', 'only of builds of this branch', notBlank)
    .option('-s, --state <state>', 'only of jobs in this state, such as failed or passed', notBlank)
    .option('--step <step>', 'only of jobs of steps with this key or label', notBlank)
    .option('--from <time>', 'only of builds created since: 30m, 12h, 7d, or a date', readTime)
    .option('--to <time>', 'only of builds created before', readTime)
    .option('--limit <count>', 'at most so many rows', readCount, 50)
    .action(async (query: string, options: SearchOptions) => {
      const { searchLogs } = await import('../../client/log-search/search.ts')
      await searchLogs(query, options)
    })

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

function readTime(text: string): string {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const ms = count === undefined ? Date.parse(text) : Date.now() - Number(count) * (UNITS[unit] ?? 0)
  if (Number.isFinite(ms)) return new Date(ms).toISOString()
  throw new InvalidArgumentError('It must be an age such as 30m, 12h or 7d, or a date such as 2026-11-19.')
}
