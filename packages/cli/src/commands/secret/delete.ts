import type { Command } from 'commander'
import { clientCommand } from '../../client/command.ts'
import type { SecretOptions } from '../../client/secret/secrets.ts'
import { notBlank } from '../../command.ts'

export const secretDelete = (): Command =>
  clientCommand('delete', 'Delete a secret.', 'secret delete DEPLOY_KEY')
    .argument('<key>', 'its name')
    .option('--cluster <cluster>', 'the name or id of the cluster (default: the only one)', notBlank)
    .action(async (key: string, options: SecretOptions) => {
      const { deleteSecret } = await import('../../client/secret/secrets.ts')
      await deleteSecret(key, options)
    })
