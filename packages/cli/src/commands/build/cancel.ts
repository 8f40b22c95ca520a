import type { Command } from 'commander'
import type { BuildOptions } from '../../client/find-build.ts'
import { buildCommand } from './options.ts'

export const buildCancel = (): Command =>
  buildCommand('cancel', 'Cancel a build.', 'build cancel 12 --reason "Wrong branch"')
    .option('--reason <text>', 'shown with the build')
    .action(async (build: string | undefined, options: BuildOptions & { reason?: string }) => {
      const { cancelBuild } = await import('../../client/build/act.ts')
      await cancelBuild(build, options)
    })
