import type { Command } from 'commander'
import { plainClientCommand } from '../../client/command.ts'
import { notBlank, type Output } from '../../command.ts'

export const profileUse = (): Command =>
  plainClientCommand('use', 'Choose the login that commands use.', 'profile use ci.example.com --org acme')
    .argument('<profile>', 'its name')
    .option('--org <slug>', 'also choose the organization', notBlank)
    .action(async (name: string, options: Output & { org?: string }) => {
      const { useProfile } = await import('../../client/profile/use.ts')
      await useProfile(name, options)
    })
