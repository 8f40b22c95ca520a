import type { Command } from 'commander'
import { command, print } from '../../command.ts'
import { placeOf, withPipeline, type Options } from './options.ts'
import { settingsText } from './text.ts'

export const retentionShow = (): Command =>
  withPipeline(
    command(
      'show',
      'Show how long builds, logs and artifacts are kept.',
      'retention show acme --pipeline web',
    ),
  ).action(async (org: string, options: Options) => {
    const { showRetention } = await import('@millrace/server/main.ts')
    const shown = await showRetention(process.env, placeOf(org, options))
    print(options, shown, settingsText(shown))
  })
