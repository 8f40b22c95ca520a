import type { Command } from 'commander'
import { clientCommand } from '../../client/command.ts'
import type { QueueOptions } from '../../client/queue/queues.ts'
import { notBlank } from '../../command.ts'

export const queueList = (): Command =>
  clientCommand('list', 'List queues, and whether their jobs are handed out.', 'queue list')
    .option('--cluster <cluster>', 'only those of this cluster: its name or id', notBlank)
    .action(async (options: QueueOptions) => {
      const { listQueues } = await import('../../client/queue/queues.ts')
      await listQueues(options)
    })
