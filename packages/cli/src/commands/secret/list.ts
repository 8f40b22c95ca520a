import type { Command } from 'commander'
import { clientCommand } from '../../client/command.ts'
import type { SecretOptions } from '../../client/secret/secrets.ts'
import { notBlank } from '../../command.ts'

export const secretList = (): Command =>
  clientCommand('list', 'List the secrets of a cluster, without their values.', 'secret list')
    .option('--cluster <cluster>', 'the name or id of the cluster (default: the only one)', notBlank)
    .action(async (options: SecretOptions) => {
      const { listSecrets } = await import('../../client/secret/secrets.ts')
      await listSecrets(options)
    })
