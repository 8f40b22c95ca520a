// Runs the test program, with the job's input and output.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { codeOf } from '../../http/exchange.ts'
import { Exit } from '../verb.ts'
import type { Io } from '../verb.ts'

export interface Ended {
  status: number
  /** The signal that ended it; null: it exited. */
  signal: NodeJS.Signals | null
}

const CANNOT_RUN = 126
const NOT_FOUND = 127

export async function runCommand([program = '', ...args]: readonly string[], io: Io): Promise<Ended> {
  const child = spawn(program, args, { cwd: io.cwd, env: io.env, stdio: 'inherit' })
  // A terminal sends Ctrl-C to both, and the results are still to be read when the program ends.
  const ignore = () => {}
  const forward = () => void child.kill('SIGTERM')
  process.on('SIGINT', ignore)
  process.on('SIGTERM', forward)
  try {
    const [status, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    if (signal === null) return { status: status ?? 1, signal: null }
    return { status: 128 + constants.signals[signal], signal }
  } catch (error) {
    const isMissing = codeOf(error) === 'ENOENT'
    throw new Exit(
      isMissing ? NOT_FOUND : CANNOT_RUN,
      `The command cannot be run: ${error instanceof Error ? error.message : String(error)}`,
    )
  } finally {
    process.off('SIGINT', ignore)
    process.off('SIGTERM', forward)
  }
}
