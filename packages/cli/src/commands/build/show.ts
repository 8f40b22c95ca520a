import type { Command } from 'commander'
import type { BuildOptions } from '../../client/find-build.ts'
import { buildCommand } from './options.ts'

export const buildShow = (): Command =>
  buildCommand('show', 'Show a build with its steps.', 'build show 12').action(
    async (build: string | undefined, options: BuildOptions) => {
      const { showBuild } = await import('../../client/build/show.ts')
      await showBuild(build, options)
    },
  )
