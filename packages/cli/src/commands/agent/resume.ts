import type { Command } from 'commander'
import { clientCommand, type ClientOptions } from '../../client/command.ts'

export const agentResume = (): Command =>
  clientCommand('resume', 'Resume paused agents.', 'agent resume mac-1')
    .argument('<agent...>', 'their names or ids')
    .action(async (names: string[], options: ClientOptions) => {
      const { resumeAgents } = await import('../../client/agent/act.ts')
      await resumeAgents(names, options)
    })
