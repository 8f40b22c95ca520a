import { chmod } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { JobFailure } from './failure.ts'
import { fileAt } from './file-at.ts'
import { runHooks, runReplacement } from './hooks.ts'
import { runProcess, statusOf } from './run.ts'
import type { Command, JobRun } from './run.ts'

/** What shells report when there is no such program. */
const NOT_FOUND = 127

/** Returns the command's exit status. Later hooks run even after a failure. */
export async function runCommandPhase(run: JobRun): Promise<number> {
  await runHooks(run, 'pre-command', ['agent', 'repository', 'plugin'])
  if (run.cancel.requested !== null) return 255
  const status =
    (await runReplacement(run, 'command', ['plugin', 'repository', 'agent'])) ?? (await runOwn(run))
  run.env['BUILDKITE_COMMAND_EXIT_STATUS'] = String(status)
  await runHooks(run, 'post-command', ['agent', 'repository', 'plugin']).catch((error: unknown) => {
    // Report the command's failure, not the hook's.
    if (status === 0 || !(error instanceof JobFailure)) throw error
    run.log.say(`# ${error.message}`)
  })
  return status
}

async function runOwn(run: JobRun): Promise<number> {
  const command = run.env['BUILDKITE_COMMAND'] ?? ''
  if (command.trim() === '')
    throw new JobFailure('the step has no command, and no command hook takes its place')
  const script = await scriptIn(run, command)
  run.log.say(script === null ? '+++ Running commands' : '+++ Running script')
  const shown = (script ?? command).trimEnd().split('\n')
  for (const line of shown) run.log.say(`\x1b[90m$\x1b[0m ${line}`)
  const shell = run.settings.shell.split(/\s+/).filter((word) => word !== '') as [string, ...string[]]
  const whole: Command = [...shell, script ?? command]
  const status = statusOf(await runProcess(run, whole))
  if (status !== 0) run.log.say(`^^^ +++\n\x1b[31mThe command exited with status ${status}\x1b[0m`)
  if (status === NOT_FOUND && run.settings.missingHint !== null) run.log.say(`# ${run.settings.missingHint}`)
  return status
}

/** The command as a path, if it names a file of the checkout. */
async function scriptIn(run: JobRun, command: string): Promise<string | null> {
  const name = command.trim()
  if (/[\n\0]/.test(name)) return null
  const path = resolve(run.cwd, name)
  if (relative(run.checkoutPath, path).startsWith('..')) return null
  const found = fileAt(path)
  if (found === null) return null
  if ((found.mode & 0o111) === 0) await chmod(path, found.mode | 0o100)
  return `'${path.replaceAll("'", String.raw`'\''`)}'`
}
