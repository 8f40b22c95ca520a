import type { Command } from 'commander'
import { notBlank } from '../../command.ts'

/** The options that creating and updating share. */
export function withFields(command: Command): Command {
  return command
    .option('--slug <slug>', 'its name in addresses', notBlank)
    .option('--repository <url>', 'the git repository', notBlank)
    .option('--description <text>', 'what it is for')
    .option('--default-branch <branch>', 'the most important branch', notBlank)
    .option('--cluster <cluster>', 'the name or id of the cluster whose agents run it', notBlank)
}
