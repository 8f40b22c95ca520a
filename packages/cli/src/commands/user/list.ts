import type { Command } from 'commander'
import { clientCommand, type ClientOptions } from '../../client/command.ts'

export const userList = (): Command =>
  clientCommand('list', 'List the members of the organization.', 'user list').action(
    async (options: ClientOptions) => {
      const { listUsers } = await import('../../client/user/list.ts')
      await listUsers(options)
    },
  )
