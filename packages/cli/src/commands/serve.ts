import type { Command } from 'commander'
import { command, print, type Output } from '../command.ts'
import { loadProgram } from '../program.ts'

export const serve = (): Command =>
  command('serve', 'Answer API requests only, as one of many processes on DATABASE_URL.', 'serve').action(
    async (options: Output) => {
      const { serve: run } = await loadProgram()
      await run(process.env, {
        started: (started) =>
          print(options, { ...started, pid: process.pid }, `Millrace serves at ${started.url}`),
        say: (sentence) => console.error(sentence),
      })
    },
  )
