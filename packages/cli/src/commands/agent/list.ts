import { Option, type Command } from 'commander'
import type { ListAgentsOptions } from '../../client/agent/list.ts'
import { clientCommand, readCount } from '../../client/command.ts'

export const agentList = (): Command =>
  clientCommand('list', 'List agents, what they run, and their ids.', 'agent list --queue default')
    .option('--queue <key>', 'only those of this queue')
    .option('--name <name>', 'only those of this name')
    .addOption(
      new Option('--state <state>', 'which ones (default: connected)').choices([
        'connected',
        'disconnected',
        'lost',
        'all',
      ]),
    )
    .option('--limit <count>', 'at most so many', readCount)
    .action(async (options: ListAgentsOptions) => {
      const { listAgents } = await import('../../client/agent/list.ts')
      await listAgents(options)
    })
