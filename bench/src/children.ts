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
  const ready = await nextMessage(forked, file)
  return {
    ready,
    child: {
      ask<T>(question: unknown) {
        forked.send(question as object)
        return nextMessage<T>(forked, file)
      },
      async stop() {
        forked.kill('SIGTERM')
        if (forked.exitCode === null && forked.signalCode === null) await once(forked, 'exit')
      },
    },
  }
}

function nextMessage<T>(child: ChildProcess, file: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(new Error(`${file} ended before it answered.`))
    child.once('exit', end)
    child.once('message', (message) => {
      child.off('exit', end)
      resolve(message as T)
    })
  })
}

// Of a child: the end of the process that measures is also its own.
if (process.send !== undefined) process.once('disconnect', () => process.exit(0))

/** Used by the children: a message to the process that measures. */
export function tell(message: unknown): void {
  process.send?.(message)
}
