import type { Command } from 'commander'
import { command, print, type Output } from '../../command.ts'

export const ssoDisable = (): Command =>
  command(
    'disable',
    'Disable the single sign-on of an organization, for administrators who have locked themselves out. Its settings stay.',
    'sso disable acme',
  )
    .argument('<slug>', 'the organization')
    .action(async (slug: string, options: Output) => {
      const { disableSso } = await import('@millrace/server/main.ts')
      await disableSso(process.env, slug)
      print(options, { slug, enabled: false }, `Single sign-on of ${slug} is disabled, and nobody needs it.`)
    })
