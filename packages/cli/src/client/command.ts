// Shared by the commands that talk to a server. Their actions import their code on demand, so that --help stays fast.
import { InvalidArgumentError, type Command } from 'commander'
import { command, HELP_GROUPS, notBlank, type Output } from '../command.ts'

export interface ClientOptions extends Output {
  profile?: string
  org?: string
  /** False with `--no-color`. */
  color: boolean
}

export function clientCommand(name: string, description: string, example: string): Command {
  return plainClientCommand(name, description, example)
    .option('--profile <name>', 'the login to use (default: see profile list)', notBlank)
    .option('--org <slug>', 'the organization (default: MILLRACE_ORG, or that of the login)', notBlank)
}

/** Without the choice of a login and an organization. */
export function plainClientCommand(name: string, description: string, example: string): Command {
  return command(name, description, example)
    .helpGroup(HELP_GROUPS.server)
    .option('--no-color', 'print without colors')
    .hook('preAction', endQuietlyWithPipe)
}

/** For `--limit`. */
export function readCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number from 1.')
}

/** As in `millrace pipeline list | head -1`. */
function endQuietlyWithPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  })
}
