import type { Command } from 'commander'
import { clientCommand, type ClientOptions } from '../../client/command.ts'

export const tokenList = (): Command =>
  clientCommand('list', 'List your own tokens, without their values.', 'token list').action(
    async (options: ClientOptions) => {
      const { listTokens } = await import('../../client/token/list.ts')
      await listTokens(options)
    },
  )
