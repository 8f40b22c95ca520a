import type { Command } from 'commander'
import type { CreateOptions } from '../../client/build/create-request.ts'
import { clientCommand } from '../../client/command.ts'
import { notBlank } from '../../command.ts'
import { collectPairs } from '../../pairs.ts'
import { PIPELINE, WATCH } from './options.ts'

export const buildCreate = (): Command =>
  clientCommand(
    'create',
    'Start a build of the commit that you stand on, or with --preflight of the work tree as it is.',
    'build create --env TARGET=staging --watch',
  )
    .option('-p, --pipeline <slug>', PIPELINE[1], notBlank)
    .option('-b, --branch <name>', 'the branch (default: the current one)', notBlank)
    .option(
      '-c, --commit <hash>',
      'the commit (default: the current one; HEAD is the newest of the branch)',
      notBlank,
    )
    .option('-m, --message <text>', 'the message (default: that of the commit)')
    .option('-e, --env <name=value>', 'a variable of the build; repeat it for several', collectPairs, [])
    .option('--meta-data <key=value>', 'meta-data of the build; repeat it for several', collectPairs, [])
    .option('--author <name>', 'who wrote the change, such as "Ada <ada@example.com>"', notBlank)
    .option('--clean-checkout', 'check out into empty folders')
    .option('--ignore-branch-filters', 'build although the pipeline does not build this branch')
    .option(...WATCH)
    .option(
      '--preflight',
      'build the work tree with all uncommitted changes; ends at the first failure and cancels the rest',
    )
    .option('--keep-going', 'with --preflight: continue after a failure')
    .option('--remote <name>', "with --preflight: push to this remote (default: the pipeline's)", notBlank)
    .action(async (options: CreateOptions) => {
      if (options.preflight) {
        const { runPreflight } = await import('../../client/preflight/run-preflight.ts')
        await runPreflight(options)
      } else {
        const { createBuild } = await import('../../client/build/create.ts')
        await createBuild(options)
      }
    })
