import { Option, type Command } from 'commander'
import { command, notBlank, print, type Output } from '../../command.ts'

interface Options extends Output {
  email: string
  name: string
  org: string
  role: 'admin' | 'member'
  password?: string
}

export const userCreate = (): Command =>
  command(
    'create',
    'Make a user and a member of an organization. An address that is known becomes a member of one more.',
    'user create --email ada@example.com --name "Ada Example" --org acme --role admin',
  )
    .requiredOption('--email <address>', 'to sign in with')
    .requiredOption('--name <name>', 'for people')
    .requiredOption('--org <slug>', 'the organization')
    .addOption(
      new Option('--role <role>', 'in the organization').choices(['admin', 'member']).makeOptionMandatory(),
    )
    .option('--password <password>', 'of a new user; only its hash is kept', notBlank)
    .action(async ({ org, password, ...options }: Options) => {
      const { createUser } = await import('@millrace/server/main.ts')
      const { email, name, role } = options
      const user = await createUser(process.env, {
        email,
        name,
        organization: org,
        role,
        password: password ?? null,
      })
      const text = `${user.email} is now ${role === 'admin' ? 'an administrator' : 'a member'} of ${org}.`
      print(options, { ...user, organization: org }, text)
    })
