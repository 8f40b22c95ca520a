import type { Command } from 'commander'
import { command, HELP_GROUPS } from '../command.ts'

/** `words`: the whole command line, because only the reader of commands in jobs knows what stands after `--`. */
export const testResult = (words: readonly string[]): Command =>
  command(
    'test-result',
    'In a job: run tests, send the results that they write, and pass when only muted or skipped tests failed.',
    'test-result report.xml -- npm test -- --reporter=junit --outputFile=report.xml',
  )
    .helpGroup(HELP_GROUPS.here)
    .usage('[options] <files...> -- <command...>')
    .argument('[words...]', 'the files that the tests write, as paths or patterns; after -- the command')
    .option('--format <format>', 'junit or json (default: json for files that end so)')
    .option(
      '--failure-status <status>',
      'the exit statuses of failed tests; any other is a crash (default: 1)',
    )
    .option('--job <id>', 'the job (default: BUILDKITE_JOB_ID)')
    .allowUnknownOption()
    .action(async () => {
      const { main } = await import('@millrace/agent/in-job/main.ts')
      const { processIo } = await import('@millrace/agent/in-job/process-io.ts')
      process.exitCode = await main(words, processIo())
    })
