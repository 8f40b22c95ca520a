import type { Command } from 'commander'
import { command, print } from '../../command.ts'
import { placeOf, settingsOf, withPipeline, withSettings, type Options } from './options.ts'
import { previewText } from './text.ts'

export const retentionPreview = (): Command =>
  withSettings(
    withPipeline(
      command(
        'preview',
        'Show what retention would delete now. With settings: what it would delete with these.',
        'retention preview acme --build-days 180',
      ),
    ),
  ).action(async (org: string, options: Options) => {
    const { previewRetention } = await import('@millrace/server/main.ts')
    const preview = await previewRetention(process.env, placeOf(org, options), settingsOf(options))
    print(options, preview, previewText(preview))
  })
