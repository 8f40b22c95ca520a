import type { Command } from 'commander'
import { command, HELP_GROUPS } from '../../command.ts'
import type { LintOptions } from '../../run/lint-file.ts'
import { collectPairs } from '../../pairs.ts'

export const pipelineLint = (): Command =>
  command(
    'lint',
    'Say everything that is wrong with a pipeline, or what it holds. Variables stay as they are written, ' +
      'unless --env or --use-env says what they are.',
    'pipeline lint .buildkite/pipeline.yml --env BUILDKITE_BRANCH=main',
  )
    .helpGroup(HELP_GROUPS.here)
    .argument('[file]', 'the pipeline; - reads standard input (default: the file at a usual place)')
    .option('--stored', 'as configuration that is stored with a pipeline, not as a file that a job uploads')
    .option('--env <name=value>', 'fill in this variable; repeat it for several', collectPairs, [])
    .option('--use-env', 'fill in variables from the environment of this command')
    .action(async (name: string | undefined, options: LintOptions) => {
      const { lintFile } = await import('../../run/lint-file.ts')
      await lintFile(name, options)
    })
