import type { Command } from 'commander'
import { plainClientCommand, type ClientOptions } from '../../client/command.ts'

export const profileList = (): Command =>
  plainClientCommand(
    'list',
    'List the servers that you are logged in to, without their tokens.',
    'profile list',
  ).action(async (options: ClientOptions) => {
    const { listProfiles } = await import('../../client/profile/list.ts')
    await listProfiles(options)
  })
