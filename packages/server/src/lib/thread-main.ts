// The program of the worker threads of thread.ts.
import { readlinkSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { ApiError } from './errors.ts'
import type { ThreadMessage, ThreadTask } from './thread.ts'

const port = parentPort
if (port === null) throw new Error('This module is only for worker threads.')
const send = (message: ThreadMessage) => port.postMessage(message)

port.on('message', (task: ThreadTask) => {
  perform(task).then(
    (output) => send({ kind: 'done', output }),
    (error: unknown) => {
      const known = error instanceof Error ? error : new Error(String(error))
      const status = known instanceof ApiError ? known.status : null
      send({ kind: 'failed', message: known.message, stack: known.stack, status })
    },
  )
})
send({ kind: 'ready', threadId: findOwnId() })

async function perform({ module, name, input }: ThreadTask): Promise<unknown> {
  const exported: Record<string, unknown> = await import(module)
  const work = exported[name]
  if (typeof work !== 'function') throw new Error(`${module} exports no function ${name}.`)
  return work(input)
}

/** The operating system's id of this thread, for reading its processor time. */
function findOwnId(): number | null {
  try {
    return Number(/\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self'))?.[1] ?? NaN) || null
  } catch {
    return null
  }
}
