import type { Command } from 'commander'
import { command, print, type Output } from '../../command.ts'

export const userSignInLink = (): Command =>
  command(
    'sign-in-link',
    'Print a link that signs a person in to the web interface: once, within 24 hours. There they can set a password.',
    'user sign-in-link ada@example.com',
  )
    .argument('<email>', 'of the person')
    .action(async (email: string, options: Output) => {
      const { createSignInUrl } = await import('@millrace/server/main.ts')
      const link = await createSignInUrl(process.env, email)
      // Print only the link to stdout, for scripts.
      if (!options.json) console.error(`Signs ${link.email} in once, within 24 hours:`)
      print(options, link, link.url)
    })
