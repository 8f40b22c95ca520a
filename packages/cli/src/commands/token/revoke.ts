import type { Command } from 'commander'
import { command, print, type Output } from '../../command.ts'

export const tokenRevoke = (): Command =>
  command(
    'revoke',
    'Make a token useless, at once and for good.',
    'token revoke 0199f2c4-7d1e-7a53-9c0b-2f6f4f0a8d11',
  )
    .argument('<id>', 'of the token, not the token itself')
    .action(async (id: string, options: Output) => {
      const { revokeToken } = await import('@millrace/server/main.ts')
      await revokeToken(process.env, id)
      print(options, { id, revoked: true }, `Revoked the token ${id}.`)
    })
