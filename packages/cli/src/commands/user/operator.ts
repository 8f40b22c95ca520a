import type { Command } from 'commander'
import { command, print, type Output } from '../../command.ts'

interface Options extends Output {
  remove?: true
}

export const userOperator = (): Command =>
  command(
    'operator',
    'Let a person see the page of the installation, at /-/installation. It gives no other right.',
    'user operator ada@example.com',
  )
    .argument('<email>', 'of the person')
    .option('--remove', 'take the right away')
    .action(async (email: string, options: Options) => {
      const { addOperator, removeOperator } = await import('@millrace/server/main.ts')
      const isRemoved = options.remove === true
      await (isRemoved ? removeOperator : addOperator)(process.env, email)
      print(
        options,
        { email, operator: !isRemoved },
        `${email} is ${isRemoved ? 'no operator any more' : 'an operator now'}.`,
      )
    })
