// The agents that a start brings run in a process of their own. Its environment holds nothing of this one's settings, and
// its token goes over the channel between the two; when this process dies, the channel closes and the agents end.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { LocalAgentAnswer, LocalAgentStart } from '@millrace/protocol/local-agents.ts'
import { StartupError } from '../db/embedded/startup-error.ts'
import type { AgentProgram } from './job-separation.ts'

const againMs = 1000

/** Returns when the agents are connected, with how to stop them. Should their process die, another takes its place. */
export async function startAgentProcess(
  { node, folder }: AgentProgram,
  start: LocalAgentStart,
  say: (sentence: string) => void,
): Promise<() => Promise<void>> {
  let isStopping = false
  let child = await begin()

  async function begin(): Promise<ChildProcess> {
    const { environment } = start.jobs.kind === 'separate' ? start.jobs.trusted : start.jobs.own
    const begun = spawn(node, [join(folder, 'dist', 'local.js')], {
      cwd: '/',
      env: environment,
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    begun.on('error', () => {})
    begun.send(start, () => {})
    const answered = once(begun, 'message').then(([message]) => message as LocalAgentAnswer)
    const ended = once(begun, 'exit').then(() => ({ kind: 'failed', reason: 'their process ended' }) as const)
    const answer = await Promise.race([answered, ended])
    if (answer.kind === 'connected') {
      begun.once('exit', (code, signal) => void beginAgain(signal ?? `code ${code}`))
      return begun
    }
    if (begun.connected) begun.disconnect()
    throw new StartupError(
      `The local agents do not start (${answer.reason}): put that right, or set MILLRACE_AGENTS=0.`,
    )
  }

  async function beginAgain(reason: string): Promise<void> {
    if (isStopping) return
    say(`The process of the local agents ended (${reason}); another one is started.`)
    await delay(againMs, undefined, { ref: false })
    if (isStopping) return
    try {
      child = await begin()
    } catch (error) {
      await beginAgain(error instanceof Error ? error.message : String(error))
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
