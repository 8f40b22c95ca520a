import type { Command } from 'commander'
import { plainClientCommand } from '../client/command.ts'
import type { LogoutOptions } from '../client/log-out.ts'
import { notBlank } from '../command.ts'

export const logout = (): Command =>
  plainClientCommand('logout', 'Delete a stored token.', 'logout --revoke')
    .option('--profile <name>', 'the login to delete (default: the current one)', notBlank)
    .option('--revoke', 'also make the token useless, wherever else it is stored')
    .action(async (options: LogoutOptions) => {
      const { logOut } = await import('../client/log-out.ts')
      await logOut(options)
    })
