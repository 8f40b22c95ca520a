import type { Command } from 'commander'
import { command, print, type Output } from '../command.ts'

export const migrate = (): Command =>
  command(
    'migrate',
    'Bring the database to the schema of this version; up, serve and worker do it too.',
    'migrate',
  ).action(async (options: Output) => {
    const { migrateDatabase } = await import('@millrace/server/main.ts')
    const applied = await migrateDatabase(process.env)
    const text = applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`
    print(options, { applied }, text)
  })
