import type { Command } from 'commander'
import { clientCommand } from '../../client/command.ts'
import type { QueueOptions } from '../../client/queue/queues.ts'
import { notBlank } from '../../command.ts'

export const queuePause = (): Command =>
  clientCommand('pause', 'Let the jobs of a queue wait.', 'queue pause default --note "New machines"')
    .argument('<queue>', 'its key or id')
    .option('--cluster <cluster>', 'the name or id of its cluster', notBlank)
    .option('--note <text>', 'the reason')
    .action(async (key: string, options: QueueOptions & { note?: string }) => {
      const { pauseQueue } = await import('../../client/queue/queues.ts')
      await pauseQueue(key, options)
    })
