import type { Command } from 'commander'
import { clientCommand } from '../../client/command.ts'
import { notBlank } from '../../command.ts'
import { PIPELINE } from '../build/options.ts'

/** A command about one job. */
export function jobCommand(
  name: string,
  description: string,
  example: string,
  usual = 'the first failed, or running, job',
): Command {
  return clientCommand(name, description, example)
    .argument('[job]', `its id, the address of its page, or the key or name of its step (default: ${usual})`)
    .option(
      '--build <build>',
      'the build of the step, as in build show (default: the newest of this branch)',
      notBlank,
    )
    .option('-p, --pipeline <slug>', PIPELINE[1], notBlank)
}
