import type { Command } from 'commander'
import { command, print } from '../../command.ts'
import { placeOf, settingsOf, withPipeline, withSettings, type Options } from './options.ts'
import { settingsText } from './text.ts'

export const retentionSet = (): Command =>
  withSettings(
    withPipeline(
      command(
        'set',
        'Set how long builds, logs and artifacts are kept. "inherit" removes a setting: a pipeline then has that of its ' +
          'organization, an organization that of the installation.',
        'retention set acme --build-days 180 --log-days 90 --pipeline web',
      ),
    ),
  ).action(async (org: string, options: Options, self: Command) => {
    const settings = settingsOf(options)
    if (Object.keys(settings).length === 0) self.error('error: give at least one setting', { exitCode: 2 })
    const tooLong = Object.entries(settings).find(
      ([name, value]) => name.endsWith('_days') && Number(value) > 36_500,
    )
    if (tooLong !== undefined) self.error(`error: ${tooLong[0]} is at most 36500`, { exitCode: 2 })
    const { setRetention } = await import('@millrace/server/main.ts')
    const shown = await setRetention(process.env, placeOf(org, options), settings)
    print(options, shown, settingsText(shown))
  })
