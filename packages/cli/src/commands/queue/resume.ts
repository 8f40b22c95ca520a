import type { Command } from 'commander'
import { clientCommand } from '../../client/command.ts'
import type { QueueOptions } from '../../client/queue/queues.ts'
import { notBlank } from '../../command.ts'

export const queueResume = (): Command =>
  clientCommand('resume', 'Hand out the jobs of a queue again.', 'queue resume default')
    .argument('<queue>', 'its key or id')
    .option('--cluster <cluster>', 'the name or id of its cluster', notBlank)
    .action(async (key: string, options: QueueOptions) => {
      const { resumeQueue } = await import('../../client/queue/queues.ts')
      await resumeQueue(key, options)
    })
