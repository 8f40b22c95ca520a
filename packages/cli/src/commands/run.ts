import { availableParallelism } from 'node:os'
import { InvalidArgumentError, type Command } from 'commander'
import { command, HELP_GROUPS } from '../command.ts'
import { collectPairs } from '../pairs.ts'
import type { RunOptions } from '../run/run-file.ts'

export const run = (): Command =>
  command(
    'run',
    'Run a pipeline on this machine, without a server: its jobs are processes in the repository that the file ' +
      'lies in. Exits with 0 when the build passes.',
    'run .buildkite/pipeline.yml --jobs 4 --env TARGET=staging --unblock --field version=1.2.3',
  )
    .helpGroup(HELP_GROUPS.here)
    .argument('[file]', 'the pipeline; - reads standard input (default: the file at a usual place)')
    .option('--jobs <number>', 'how many jobs run at once (default: one per core)', readCount)
    .option('--env <name=value>', 'a variable of the build; repeat it for several', collectPairs, [])
    .option('--unblock', 'let every block and input step through, with the defaults of its fields')
    .option(
      '--field <key=value>',
      'the answer to a field of such a step; repeat it for several',
      collectPairs,
      [],
    )
    .option('--ignore-plugins', 'run the commands of steps that have plugins without these')
    .option('--skip-triggers', 'pass over trigger steps, which otherwise fail')
    .action(async (name: string | undefined, options: RunOptions) => {
      const { runFile } = await import('../run/run-file.ts')
      await runFile(name, { jobs: availableParallelism(), ...options })
    })

function readCount(text: string): number {
  const count = Number(text)
  if (Number.isSafeInteger(count) && count > 0) return count
  throw new InvalidArgumentError('It is a number, at least 1.')
}
