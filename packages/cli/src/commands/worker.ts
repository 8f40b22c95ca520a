import type { Command } from 'commander'
import { command, print, type Output } from '../command.ts'

export const worker = (): Command =>
  command('worker', 'Do background work only, as one of many processes on DATABASE_URL.', 'worker').action(
    async (options: Output) => {
      const { work } = await import('@millrace/server/main.ts')
      await work(process.env, {
        started: (started) =>
          print(options, { ...started, pid: process.pid }, 'Millrace works in the background.'),
        say: (sentence) => console.error(sentence),
      })
    },
  )
