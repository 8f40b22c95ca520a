import type { Command } from 'commander'
import { clientCommand, readCount } from '../../client/command.ts'
import type { CreateOptions } from '../../client/pipeline/save.ts'
import { notBlank } from '../../command.ts'
import { withFields } from './save-options.ts'

export const pipelineCreate = (): Command =>
  withFields(
    clientCommand(
      'create',
      'Create a pipeline. Without --repository it builds the repository that you are in.',
      'pipeline create Web -f pipeline.yml --repository git@github.com:acme/web.git',
    )
      .argument('<name>', 'its name')
      .option(
        '-f, --file <file>',
        'its steps; - reads standard input (default: those in the repository, uploaded by the first step)',
        notBlank,
      ),
  )
    .option('--connect', 'create the webhook at the host too; --repository may then be owner/name')
    .option(
      '--wait <seconds>',
      'with --connect: how long to wait for the first delivery (default: 60)',
      readCount,
    )
    .action(async (name: string, options: CreateOptions) => {
      const { createPipeline } = await import('../../client/pipeline/save.ts')
      await createPipeline(name, options)
    })
