import type { Command } from 'commander'
import { command, print, type Output } from '../../command.ts'

export const orgCreate = (): Command =>
  command('create', 'Make an organization.', 'org create acme --name "Acme Inc."')
    .argument('<slug>', 'its name in URLs: lower-case letters, digits and dashes')
    .requiredOption('--name <name>', 'its name for people')
    .option('--emoji <emoji>', 'the emoji beside its name, such as :rocket:')
    .action(async (slug: string, options: Output & { name: string; emoji?: string }) => {
      const { createOrganization } = await import('@millrace/server/main.ts')
      const organization = await createOrganization(process.env, {
        slug,
        name: options.name,
        emoji: options.emoji ?? null,
      })
      print(options, organization, `Made the organization ${slug}.`)
    })
