// Local agents run in one child process. Its environment has none of the server's settings, and it gets its token over
// the IPC channel. When the server dies, the channel closes and the agents end.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { LocalAgentAnswer, LocalAgentStart } from '@millrace/protocol/local-agents.ts'
import { StartupError } from '../db/embedded/startup-error.ts'
import type { JobSeparation } from './agent-program.ts'

const restartMs = 1000

/** Resolves when the agents are connected, to a function that stops them. A process that dies is restarted. */
export async function startAgentProcess(
  { program: { node, folder }, environment }: Pick<JobSeparation, 'program' | 'environment'>,
  start: LocalAgentStart,
  say: (sentence: string) => void,
): Promise<() => Promise<void>> {
  let isStopping = false
  let child = await launch()

  async function launch(): Promise<ChildProcess> {
    const launched = spawn(node, [join(folder, 'dist', 'local.js')], {
      cwd: '/',
      env: environment,
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    launched.on('error', () => {})
    launched.send(start, () => {})
    const answered = once(launched, 'message').then(([message]) => message as LocalAgentAnswer)
    const ended = once(launched, 'exit').then(
      () => ({ kind: 'failed', reason: 'their process ended' }) as const,
    )
    const answer = await Promise.race([answered, ended])
    if (answer.kind === 'connected') {
      launched.once('exit', (code, signal) => void restart(signal ?? `code ${code}`))
      return launched
    }
    if (launched.connected) launched.disconnect()
    throw new StartupError(
      `The local agents do not start (${answer.reason}): put that right, or set MILLRACE_AGENTS=0.`,
    )
  }

  async function restart(reason: string): Promise<void> {
    if (isStopping) return
    say(`The process of the local agents ended (${reason}); another one is started.`)
    await delay(restartMs, undefined, { ref: false })
    if (isStopping) return
    try {
      child = await launch()
    } catch (error) {
      await restart(error instanceof Error ? error.message : String(error))
    }
  }

  return async () => {
    isStopping = true
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    if (child.connected) child.disconnect()
    await ended
  }
}
