// What the programs of other servers have in common: they write to a log, answer after a while, and end with SIGTERM.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const mostMs = 600_000

/** Its output goes to the file `output` in the folder. */
export function startProgram(
  file: string,
  args: readonly string[],
  folder: string,
  env: NodeJS.ProcessEnv = process.env,
): ChildProcess {
  const log = openSync(join(folder, 'output'), 'a')
  return spawn(file, args, { env, stdio: ['ignore', log, log] })
}

export async function endProgram(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

export async function until(holds: () => Promise<boolean>, everyMs = 100): Promise<void> {
  const end = performance.now() + mostMs
  while (!(await holds())) {
    if (performance.now() > end) throw new Error('A server did not do it in ten minutes.')
    await delay(everyMs)
  }
}
