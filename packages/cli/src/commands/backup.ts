import { resolve } from 'node:path'
import type { Command } from 'commander'
import { command, notBlank, print, type Output } from '../command.ts'

export const backup = (): Command =>
  command(
    'backup',
    'Write everything as of one moment into one compressed file, while the server runs or not.',
    'backup /var/backups/millrace-monday.tar.gz',
  )
    .argument('<file>', 'where to; a file that is there is replaced when the backup is whole', notBlank)
    .option(
      '--include-secret-key',
      'put in the key that opens stored secrets; without it, keep that key somewhere else',
    )
    .action(async (name: string, options: Output & { includeSecretKey?: true }) => {
      const { backupTo } = await import('@millrace/server/main.ts')
      const file = resolve(name)
      const withSecretKey = options.includeSecretKey === true
      const { tables, blobs, bytes, leftOut, keyFile } = await backupTo(process.env, file, { withSecretKey })
      const rows = Object.values(tables).reduce((sum, count) => sum + count, 0)
      print(
        options,
        { file, bytes, tables, blobs, left_out: leftOut, secret_key: withSecretKey },
        `Wrote ${file}: ${rows} rows of ${Object.keys(tables).length} tables and ${blobs} blobs in ${bytes} bytes` +
          `${withSecretKey ? ', with' : ', without'} the secret key.` +
          (withSecretKey ? '' : `\n${adviceOn(keyFile)}`) +
          (leftOut === null
            ? ''
            : `\nThe logs and artifacts in ${leftOut} are NOT in it: back that bucket up too, after this.`),
      )
    })

const adviceOn = (keyFile: string | null): string =>
  `Without that key the stored secrets are lost. ${
    keyFile === null
      ? 'Keep the value of MILLRACE_SECRET_KEY apart from the backups.'
      : `Keep a copy apart from the backups: cp -p ${keyFile} ELSEWHERE`
  }`
