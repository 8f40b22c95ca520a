// Measured processes are separate from the process that sends the load.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Child {
  /** Sends a question and waits for the answer. */
  ask<T>(question: unknown): Promise<T>
  stop(): Promise<void>
}

/** `file` is a compiled program. It sends a first message when it is ready, and answers messages. */
export async function startChild(
  file: URL,
  env: Record<string, string>,
  nodeOptions: readonly string[] = [],
): Promise<{ child: Child; ready: unknown }> {
  const path = fileURLToPath(file)
  const forked: ChildProcess = fork(path, [], {
    env: { ...process.env, ...env },
    execArgv: [...process.execArgv, ...nodeOptions],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ready = await nextMessage(forked, path)
  return {
    ready,
    child: {
      ask<T>(question: unknown) {
        forked.send(question as object)
        return nextMessage<T>(forked, path)
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

// A child ends with the measuring process.
if (process.send !== undefined) process.once('disconnect', () => process.exit(0))

/** For the children: sends a message to the measuring process. */
export function send(message: unknown): void {
  process.send?.(message)
}
