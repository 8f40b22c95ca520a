// A few threads for one cache, so that neither the log nor other jobs of this process wait for it.

import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { packageFolder } from '../package-folder.ts'
import { Damaged } from './manifest.ts'
import type { ThreadAnswer, ThreadTask, ThreadWork } from './thread.ts'
import { NotSavable } from './walk.ts'

const MOST_THREADS = 4

type Name = keyof ThreadWork

export interface Threads {
  /** How many tasks it makes sense to have at once. */
  count: number
  run<N extends Name>(
    name: N,
    args: Parameters<ThreadWork[N]>,
    transfer?: ArrayBuffer[],
  ): Promise<ReturnType<ThreadWork[N]>>
  close(): Promise<void>
}

interface Waiting {
  worker: Thread
  resolve(result: unknown): void
  reject(error: Error): void
}

interface Thread {
  worker: Worker
  busy: number
}

export function openThreads(): Threads {
  const count = Math.min(MOST_THREADS, availableParallelism())
  const threads: Thread[] = []
  const waiting = new Map<number, Waiting>()
  let lastId = 0

  function start(): Thread {
    const worker = new Worker(join(packageFolder, 'dist', 'cache', 'thread.js'), { execArgv: [], env: {} })
    const thread = { worker, busy: 0 }
    worker.on('message', ({ id, result, failure }: ThreadAnswer) => {
      const task = waiting.get(id)
      waiting.delete(id)
      thread.busy -= 1
      if (failure === undefined) task?.resolve(result)
      else task?.reject(errorOf(failure))
    })
    const fail = (error: Error) => {
      threads.splice(threads.indexOf(thread), 1)
      for (const [id, task] of waiting) {
        if (task.worker !== thread) continue
        waiting.delete(id)
        task.reject(error)
      }
    }
    worker.on('error', fail)
    worker.on('exit', () => fail(new Error('the thread of the cache ended')))
    threads.push(thread)
    return thread
  }

  const choose = (): Thread => {
    const idle = threads.find(({ busy }) => busy === 0)
    if (idle !== undefined) return idle
    if (threads.length < count) return start()
    return threads.reduce((least, thread) => (thread.busy < least.busy ? thread : least))
  }

  return {
    count,
    run: (name, args, transfer = []) =>
      new Promise((resolve, reject) => {
        const thread = choose()
        const id = (lastId += 1)
        thread.busy += 1
        waiting.set(id, { worker: thread, resolve, reject })
        const task: ThreadTask = { id, name, args }
        thread.worker.postMessage(task, transfer)
      }),
    close: async () => void (await Promise.all([...threads].map(({ worker }) => worker.terminate()))),
  }
}

function errorOf({ message, damaged, isNotSavable }: NonNullable<ThreadAnswer['failure']>): Error {
  if (damaged !== null) return new Damaged(damaged, message)
  return isNotSavable ? new NotSavable(message) : new Error(message)
}

/** Runs so many at once. After a failure it starts no more, and throws when all have ended. */
export async function concurrently<T>(
  items: readonly T[],
  most: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const queue = items.entries()
  const failures: unknown[] = []
  const worker = async () => {
    for (const [index, item] of queue) {
      if (failures.length > 0) return
      await work(item, index).catch((error: unknown) => failures.push(error))
    }
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker))
  if (failures.length > 0) throw failures[0]
}
