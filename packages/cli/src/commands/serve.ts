import type { Started } from '@millrace/server/main.ts'
import type { Command } from 'commander'
import { command, print, type Output } from '../command.ts'

export const serve = (): Command =>
  command('serve', 'Answer API requests only, as one of many processes on DATABASE_URL.', 'serve').action(
    async (options: Output) => {
      const { serve: run } = await import('@millrace/server/main.ts')
      await run(process.env, {
        started: (started) => print(options, { ...started, pid: process.pid }, welcome(started)),
        say: (sentence) => console.error(sentence),
      })
    },
  )

const welcome = ({ url, empty }: Started): string =>
  [`Millrace serves at ${url}`, ...(empty ? firstSteps : [])].join('\n')

const firstSteps = [
  '',
  'The database has no organization yet, so nobody can use it. With the same settings, make one, its first user and a token:',
  '',
  '  npx millrace org create acme --name "Acme"',
  '  npx millrace user create --email ada@example.com --name "Ada" --org acme --role admin',
  '  npx millrace token create --user ada@example.com --scope all',
]
