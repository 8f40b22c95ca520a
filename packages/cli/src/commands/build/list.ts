import type { Command } from 'commander'
import type { ListBuildsOptions } from '../../client/build/list.ts'
import { clientCommand, readCount } from '../../client/command.ts'
import { collect, notBlank } from '../../command.ts'
import { PIPELINE } from './options.ts'

export const buildList = (): Command =>
  clientCommand('list', 'List builds, newest first.', 'build list --state failed --branch main --creator me')
    .option('-p, --pipeline <slug>', PIPELINE[1], notBlank)
    .option('-a, --all-pipelines', 'of all pipelines of the organization')
    .option(
      '-s, --state <state>',
      'only in this state, such as running or failed; repeat it for several',
      collect,
      [],
    )
    .option('-b, --branch <name>', 'only of this branch, * for any text; repeat it for several', collect, [])
    .option('-c, --commit <hash>', 'only of this commit; repeat it for several', collect, [])
    .option('--creator <user>', 'only of this user: me, an email address or an id', notBlank)
    .option('--limit <count>', 'at most so many', readCount, 20)
    .action(async (options: ListBuildsOptions) => {
      const { listBuilds } = await import('../../client/build/list.ts')
      await listBuilds(options)
    })
