// Starts the process of one job as a user, or in a sandbox, that can reach neither this agent nor its server. The server
// chooses, and sends these plain values over a pipe.

import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { JobLaunch } from '../settings.ts'

export type LaunchedProcess = ChildProcessByStdio<Writable, Readable, Readable>

/** The process receives its job on its standard input. When that ends, it ends the job. */
export function launchJobProcess(
  { command, user, node, program, options }: JobLaunch,
  folder: string,
): LaunchedProcess {
  const [file, ...args] = [...command, node, program]
  const env = { ...options.environment }
  // Node parses these certificates at each start, for longer than the rest of its start takes. The process reads them with its
  // first request over HTTPS.
  Reflect.deleteProperty(env, 'NODE_EXTRA_CA_CERTS')
  return spawn(file, args, {
    cwd: folder,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    ...user,
  })
}
