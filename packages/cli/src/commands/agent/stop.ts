import type { Command } from 'commander'
import { clientCommand, type ClientOptions } from '../../client/command.ts'

export const agentStop = (): Command =>
  clientCommand('stop', 'Stop agents after their jobs.', 'agent stop mac-1 mac-2')
    .argument('<agent...>', 'their names or ids')
    .option('--force', 'at once: their jobs are canceled')
    .action(async (names: string[], options: ClientOptions & { force?: true }) => {
      const { stopAgents } = await import('../../client/agent/act.ts')
      await stopAgents(names, options)
    })
