// Starts the process of one job as a user, or in namespaces, that can reach neither this agent nor its server. The server
// chooses, and sends these plain values over a pipe.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import type { AgentOptions } from '../settings.ts'

export interface JobLaunch {
  /** Command line in front of Node. */
  command: readonly string[]
  /** null: the user of this process. */
  user: { uid: number; gid: number } | null
  node: string
  /** The path of the compiled `separate/program.js`, readable for that user. */
  program: string
  /** Options of the agent in that process. */
  options: Omit<AgentOptions, 'token' | 'log' | 'clock' | 'separateJobs'>
}

/** Jobs of forks run as another user, so that files they leave never reach a trusted job. */
export interface SeparateJobs {
  trusted: JobLaunch
  forks: JobLaunch
}

/** The process receives its job over a channel. When the channel closes, it ends the job. */
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
