import type { Command } from 'commander'
import { clientCommand, type ClientOptions } from '../../client/command.ts'

export const pipelineOpen = (): Command =>
  clientCommand('open', 'Show a pipeline in the browser, and print its address.', 'pipeline open web')
    .argument('[pipeline]', 'its slug (default: the one of this git repository)')
    .action(async (pipeline: string | undefined, options: ClientOptions) => {
      const { openPipeline } = await import('../../client/pipeline/open.ts')
      await openPipeline(pipeline, options)
    })
