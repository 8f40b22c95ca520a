import type { Command } from 'commander'
import { clientCommand } from '../../client/command.ts'
import type { SetSecretOptions } from '../../client/secret/secrets.ts'
import { notBlank } from '../../command.ts'

export const secretSet = (): Command =>
  clientCommand(
    'set',
    'Create a secret, or replace its value. The value is read from standard input or a prompt.',
    'secret set DEPLOY_KEY --description "Staging" < deploy-key',
  )
    .argument('<key>', 'the name that jobs read it by')
    .option('--cluster <cluster>', 'the name or id of the cluster (default: the only one)', notBlank)
    .option('--description <text>', 'what it is for')
    .option('--policy-file <file>', 'YAML rules: which jobs may read it', notBlank)
    .action(async (key: string, options: SetSecretOptions) => {
      const { setSecret } = await import('../../client/secret/secrets.ts')
      await setSecret(key, options)
    })
