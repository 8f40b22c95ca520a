import type { Command } from 'commander'
import type { UnblockOptions } from '../../client/build/unblock.ts'
import { notBlank } from '../../command.ts'
import { collectPairs } from '../../pairs.ts'
import { buildCommand } from './options.ts'

export const buildUnblock = (): Command =>
  buildCommand(
    'unblock',
    'Unblock a block or input step. In a terminal it asks for the fields that are not given.',
    'build unblock 12 --step release --field version=1.2.3',
  )
    .option('--step <key>', 'the key or label of the step, if several are blocked', notBlank)
    .option('--field <key=value>', 'the answer to a field; repeat it for several', collectPairs, [])
    .action(async (build: string | undefined, options: UnblockOptions) => {
      const { unblockBuild } = await import('../../client/build/unblock.ts')
      await unblockBuild(build, options)
    })
