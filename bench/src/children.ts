// Processes under measurement run apart from the process that loads them.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Child {
  /** Sends a question and waits for the answer. */
  ask<T>(question: unknown): Promise<T>
  stop(): Promise<void>
}

/** `file` is a sibling of this one that answers messages and says `ready` first. */
export async function startChild(
  file: string,
  env: Record<string, string>,
): Promise<{ child: Child; ready: unknown }> {
  const path = fileURLToPath(new URL(file, import.meta.url))
  const forked: ChildProcess = fork(path, [], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [ready] = (await Promise.race([once(forked, 'message'), failure(forked, file)])) as [unknown]
  return {
    ready,
    child: {
      async ask<T>(question: unknown) {
        forked.send(question as object)
        const [answer] = (await Promise.race([once(forked, 'message'), failure(forked, file)])) as [T]
        return answer
      },
      async stop() {
        forked.kill('SIGTERM')
        if (forked.exitCode === null && forked.signalCode === null) await once(forked, 'exit')
      },
    },
  }
}

async function failure(child: ChildProcess, file: string): Promise<never> {
  await once(child, 'exit')
  throw new Error(`${file} ended before it answered.`)
}

/** Used by the children: a message to the process that measures, whose end is also theirs. */
export function tell(message: unknown): void {
  process.send?.(message)
  process.once('disconnect', () => process.exit(0))
}
