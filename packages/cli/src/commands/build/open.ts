import type { Command } from 'commander'
import type { BuildOptions } from '../../client/find-build.ts'
import { buildCommand } from './options.ts'

export const buildOpen = (): Command =>
  buildCommand(
    'open',
    'Open the page of a build in the browser, and print its address.',
    'build open 12',
  ).action(async (build: string | undefined, options: BuildOptions) => {
    const { openBuild } = await import('../../client/build/act.ts')
    await openBuild(build, options)
  })
