import type { Command } from 'commander'
import { command, print } from '../../command.ts'
import { placeOf, withPipeline, type Options } from './options.ts'
import { doneText } from './text.ts'

export const retentionRun = (): Command =>
  withPipeline(
    command(
      'run',
      'Delete now what is due, instead of leaving it to the worker. Stops between two batches when interrupted.',
      'retention run acme',
    ),
  ).action(async (org: string, options: Options) => {
    const { runRetention } = await import('@millrace/server/main.ts')
    const stopping = new AbortController()
    const stop = () => stopping.abort()
    process.once('SIGINT', stop).once('SIGTERM', stop)
    try {
      const done = await runRetention(process.env, placeOf(org, options), stopping.signal)
      print(options, done, doneText(done))
    } finally {
      process.off('SIGINT', stop).off('SIGTERM', stop)
    }
  })
