import type { Command } from 'commander'
import type { WatchableOptions } from '../../client/build/act.ts'
import { buildCommand, WATCH } from './options.ts'

export const buildRebuild = (): Command =>
  buildCommand('rebuild', 'Make a new build of the same commit.', 'build rebuild 12 --watch')
    .option(...WATCH)
    .action(async (build: string | undefined, options: WatchableOptions) => {
      const { rebuild } = await import('../../client/build/act.ts')
      await rebuild(build, options)
    })
