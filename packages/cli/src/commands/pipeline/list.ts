import type { Command } from 'commander'
import { clientCommand, readCount } from '../../client/command.ts'
import type { ListPipelinesOptions } from '../../client/pipeline/list.ts'

export const pipelineList = (): Command =>
  clientCommand('list', 'List the pipelines of the organization.', 'pipeline list --name web')
    .option('--name <text>', 'only those with this text in their name')
    .option('--archived', 'archived ones too')
    .option('--limit <count>', 'at most so many', readCount)
    .action(async (options: ListPipelinesOptions) => {
      const { listPipelines } = await import('../../client/pipeline/list.ts')
      await listPipelines(options)
    })
