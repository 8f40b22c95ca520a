import { InvalidArgumentError, Option, type Command } from 'commander'
import type { LoginOptions } from '../client/log-in.ts'
import { plainClientCommand } from '../client/command.ts'
import { notBlank } from '../command.ts'

export const login = (): Command =>
  plainClientCommand(
    'login',
    'Log in to a server: make a token with the browser, or give one. The token is checked and stored for other commands.',
    'login --url https://ci.example.com',
  )
    .option('--url <url>', "the server (default: MILLRACE_URL, or the current login's)", notBlank)
    .addOption(
      new Option('--token-stdin', 'read the token from standard input, for scripts').conflicts('token'),
    )
    .addOption(
      new Option(
        '--token [token]',
        'ask for a token, without a browser; a token written here can be seen by all users of this machine',
      ),
    )
    .addOption(
      new Option(
        '--device',
        'show a code to enter in a browser on another device; the default where no browser can be opened',
      ).conflicts(['token', 'tokenStdin']),
    )
    .option('--profile <name>', "the name to store it under (default: the server's host)", readName)
    .option('--org <slug>', 'the organization that commands are about, unless they name another', notBlank)
    .action(async (options: LoginOptions) => {
      const { logIn } = await import('../client/log-in.ts')
      await logIn(options)
    })

function readName(name: string): string {
  if (/^[A-Za-z0-9][\w.:@-]*$/.test(name)) return name
  throw new InvalidArgumentError('It has letters, digits and . : @ _ - only.')
}
