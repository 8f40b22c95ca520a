// The program of the agent package that servers hand out: `agent start` without the rest of the command line.
import { CommanderError } from 'commander'
import { group } from './command.ts'
import { agentStart } from './commands/agent/start.ts'
import { Refused } from './refused.ts'

export async function main(args: readonly string[]): Promise<number> {
  const example = 'agent start --help'
  const program = group('millrace', 'Agents of a Millrace server.', example, [
    group('agent', 'Agents on this machine.', example, [agentStart()]),
  ])
  try {
    await program.parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    console.error(error instanceof Refused ? error.message : error)
    return 1
  }
}
