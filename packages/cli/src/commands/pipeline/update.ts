import type { Command } from 'commander'
import { clientCommand } from '../../client/command.ts'
import type { SaveOptions } from '../../client/pipeline/save.ts'
import { notBlank } from '../../command.ts'
import { withFields } from './save-options.ts'

export const pipelineUpdate = (): Command =>
  withFields(
    clientCommand('update', 'Change a pipeline.', 'pipeline update web -f pipeline.yml')
      .argument('[pipeline]', 'its slug (default: the one of this git repository)')
      .option('-f, --file <file>', 'its new steps; - reads standard input', notBlank)
      .option('--name <name>', 'its new name', notBlank),
  ).action(async (pipeline: string | undefined, options: SaveOptions) => {
    const { updatePipeline } = await import('../../client/pipeline/save.ts')
    await updatePipeline(pipeline, options)
  })
