import { resolve } from 'node:path'
import type { Command } from 'commander'
import { command, notBlank, print, type Output } from '../command.ts'

export const restore = (): Command =>
  command(
    'restore',
    'Load a backup of this or an older version into an empty database.',
    'restore /var/backups/millrace-monday.tar.gz',
  )
    .argument('<file>', 'what millrace backup wrote', notBlank)
    .action(async (name: string, options: Output) => {
      const { restoreFrom } = await import('@millrace/server/main.ts')
      const file = resolve(name)
      const { made_at, tables, blobs, secret_key } = await restoreFrom(process.env, file)
      const rows = Object.values(tables).reduce((sum, count) => sum + count, 0)
      print(
        options,
        { file, made_at, tables, blobs, secret_key },
        `Restored what was there at ${made_at}: ${rows} rows and ${blobs} blobs.` +
          (secret_key
            ? ''
            : '\nThe secret key was not in the backup: stored secrets need the one they were sealed with, ' +
              'in MILLRACE_SECRET_KEY or in the file secret-key of the data directory.'),
      )
    })
