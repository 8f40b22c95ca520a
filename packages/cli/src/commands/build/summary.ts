import type { Command } from 'commander'
import type { SummaryOptions } from '../../client/build/summary.ts'
import { readCount } from '../../client/command.ts'
import { buildCommand } from './options.ts'

export const buildSummary = (): Command =>
  buildCommand(
    'summary',
    'Say why a build failed or goes no further: failed jobs with the end of their logs, tests, annotations.',
    'build summary 12 --json',
  )
    .option('--max-jobs <count>', 'show at most so many failed jobs (default: 10)', readCount)
    .option('--max-bytes <bytes>', 'the answer is never larger (default: 65536)', readCount)
    .action(async (build: string | undefined, options: SummaryOptions) => {
      const { summarizeBuild } = await import('../../client/build/summary.ts')
      await summarizeBuild(build, options)
    })
