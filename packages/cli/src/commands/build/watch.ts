import type { Command } from 'commander'
import type { BuildOptions } from '../../client/find-build.ts'
import { buildCommand } from './options.ts'

export const buildWatch = (): Command =>
  buildCommand(
    'watch',
    'Watch a build until it ends: live in a terminal, as lines in a pipe, as JSON lines with --json. Exits with 0 if ' +
      'the build passed, 1 if not, 3 if it could not be watched, 130 after Ctrl-C, which does not stop the build.',
    'build watch web/12',
  ).action(async (build: string | undefined, options: BuildOptions) => {
    const { watch } = await import('../../client/build/watch.ts')
    await watch(build, options)
  })
