import type { Command } from 'commander'
import type { WatchableOptions } from '../../client/build/act.ts'
import { buildCommand, WATCH } from './options.ts'

export const buildRetry = (): Command =>
  buildCommand('retry', 'Retry the failed jobs of a build, in the same build.', 'build retry 12 --watch')
    .option(
      '--states <states>',
      'only of these, separated by commas: canceled, expired, failed, soft_failed, timed_out',
    )
    .option(...WATCH)
    .action(async (build: string | undefined, options: WatchableOptions & { states?: string }) => {
      const { retryBuild } = await import('../../client/build/act.ts')
      await retryBuild(build, options)
    })
