// `build watch`, and the end of other commands that watch.
import type { Build } from '@millrace/server/wire.ts'
import { Refused } from '../../refused.ts'
import type { Api } from '../api.ts'
import type { ClientOptions } from '../command.ts'
import { openScreen } from '../watch/screen.ts'
import { exitCodeOf, NOT_WATCHED, watchBuild } from '../watch/watch-build.ts'
import { findBuild, type BuildName, type BuildOptions } from '../find-build.ts'
import { interruptSignal } from '../interrupt.ts'

export async function watch(text: string | undefined, options: BuildOptions): Promise<void> {
  try {
    await watchAndExit({ ...options, ...(await findBuild(text, options)) })
  } catch (error) {
    failToWatch(error)
  }
}

/** Sets the exit code: 0 if the build passed, 1 if not, 3 if it could not be watched, 130 after Ctrl-C. */
export async function watchAndExit(
  { api, path, pipeline, name, ...options }: ClientOptions & BuildName & { api: Api },
  { created }: { created?: Build } = {},
): Promise<void> {
  const interrupt = interruptSignal()
  const screen = openScreen(options, {
    interrupt: 'Ctrl-C ends watching. The build goes on.',
    goesOn: `The build goes on. Watch it again with millrace build watch ${name}, or stop it with millrace build cancel ${name}.`,
    failed: `Retry its failed jobs with millrace build retry ${name}.`,
  })
  if (created !== undefined && options.json) {
    process.stdout.write(`${JSON.stringify({ type: 'created', build: created })}\n`)
  }
  try {
    const watched = await watchBuild(api, { path, pipeline, name }, screen, { signal: interrupt.signal })
    process.exitCode = exitCodeOf(watched)
    screen.close(watched === null ? null : exitCodeOf(watched))
  } catch (error) {
    screen.close(NOT_WATCHED)
    failToWatch(error)
  } finally {
    interrupt.end()
  }
}

function failToWatch(error: unknown): void {
  if (!(error instanceof Refused)) throw error
  console.error(error.message)
  process.exitCode = NOT_WATCHED
}
