// Starts the process of one job as a user, or in a sandbox, that can reach neither this agent nor its server. The server
// chooses, and sends these plain values over a pipe.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import type { JobLaunch } from '../settings.ts'

/** The process receives its job over a channel. When the channel closes, it ends the job. */
export function launchJobProcess(
  { command, user, node, program, options }: JobLaunch,
  folder: string,
): ChildProcess {
  const [file, ...args] = [...command, node, program]
  return spawn(file, args, {
    cwd: folder,
    env: { ...options.environment },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    detached: true,
    ...user,
  })
}
