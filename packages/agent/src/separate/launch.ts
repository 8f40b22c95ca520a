// How a process for one job is started under an identity that can reach neither this agent nor its server. Whoever starts
// the agent decides; everything here is plain data, since it comes over a pipe.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import type { AgentOptions } from '../settings.ts'

export interface JobLaunch {
  /** What stands before Node on the command line; empty: nothing. */
  command: readonly string[]
  /** null: those of this process. */
  user: { uid: number; gid: number } | null
  node: string
  /** The compiled `separate/program.js`, where that identity can read it. */
  program: string
  /** For the agent inside, as far as they are plain data. */
  options: Omit<AgentOptions, 'token' | 'log' | 'clock' | 'separateJobs'>
}

/** Jobs of forks get an identity of their own, so that nothing they leave behind reaches a trusted job. */
export interface SeparateJobs {
  trusted: JobLaunch
  forks: JobLaunch
}

/** The process waits for its job on a channel; when the channel closes, it ends what it has begun. */
export function launchJobProcess({ command, user, node, program, options }: JobLaunch): ChildProcess {
  const [file, ...args] = [...command, node, program]
  return spawn(file, args, {
    cwd: '/',
    env: { ...options.environment },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    detached: true,
    ...user,
  })
}
