import type { Command } from 'commander'
import type { PauseOptions } from '../../client/agent/act.ts'
import { clientCommand, readCount } from '../../client/command.ts'

export const agentPause = (): Command =>
  clientCommand(
    'pause',
    'Pause agents: they end their job and get no other.',
    'agent pause mac-1 --note "New disk" --minutes 60',
  )
    .argument('<agent...>', 'their names or ids')
    .option('--note <text>', 'the reason')
    .option('--minutes <count>', 'resume after so many minutes (default: 5)', readCount)
    .action(async (names: string[], options: PauseOptions) => {
      const { pauseAgents } = await import('../../client/agent/act.ts')
      await pauseAgents(names, options)
    })
