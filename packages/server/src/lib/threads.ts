// Runs CPU-bound work in worker threads, so that it does not block the event loop. Each kind of work has threads and a queue
// of its own, so no kind waits for another. In a queue organizations take turns (fair-queue.ts).
//
// A caller first takes a place, which says whose work it is; the number of places is limited for each sender and
// organization. With a place it runs one task after the other. Work of a client that has gone does not start.
import { availableParallelism } from 'node:os'
import { FairQueue } from './fair-queue.ts'
import { Holdings, type Limits, type Owner } from './holdings.ts'
import { clientGone, Thread, type Assignment } from './thread.ts'

/**
 * `page`: what a person waits for. `search`: searches of logs, which may be long. `upload`: what is sent to be stored.
 * `background`: tasks of workers.
 */
export type WorkKind = 'page' | 'search' | 'upload' | 'background'

export interface WorkOwner extends Owner {
  kind: WorkKind
  /** Aborts when nobody waits for the work any more. null: it is to be finished in any case. */
  until: AbortSignal | null
}

export interface Place {
  /** Calls an exported function of a compiled module in a thread. Input and output are copied; an `ApiError` stays one. */
  run: RunTask
  /** Drops what has not started. */
  leave(): void
}

type RunTask = <Work extends (input: never) => unknown>(
  module: URL,
  name: string,
  input: Parameters<Work>[0],
  cpuMs: number,
) => Promise<Awaited<ReturnType<Work>>>

interface Waiting extends Assignment {
  owner: Owner
}

/** They exist only while there is work. */
const mostThreads = Math.min(2, availableParallelism())

class Queue {
  readonly places: Holdings
  readonly waiting = new FairQueue<Waiting>()
  /** Tasks of clients that left before they started. */
  dropped = 0
  private readonly idle: Thread[] = []
  private threads = 0
  private readonly most: number

  constructor(name: string, most: number, limits: Limits) {
    this.places = new Holdings(name, limits)
    this.most = most
  }

  get running(): number {
    return this.threads - this.idle.length
  }

  add(waiting: Waiting): void {
    this.waiting.add(waiting)
    this.startNext()
  }

  drop(waiting: Waiting): void {
    if (!this.waiting.delete(waiting)) return
    this.dropped++
    waiting.reject(clientGone())
  }

  private startNext(): void {
    while (this.waiting.size > 0) {
      const thread = this.idle.pop() ?? (this.threads < this.most ? this.startThread() : undefined)
      if (thread === undefined) return
      const next = this.waiting.take()
      if (next !== undefined) thread.run(next)
    }
  }

  private startThread(): Thread {
    this.threads += 1
    return new Thread({
      onIdle: (thread) => {
        this.idle.push(thread)
        this.startNext()
      },
      onRetired: (thread) => void this.idle.splice(this.idle.indexOf(thread), 1),
      onEnd: () => {
        this.threads -= 1
        this.startNext()
      },
    })
  }
}

const queues: Readonly<Record<WorkKind, Queue>> = {
  page: new Queue('requests for logs or pages under way', mostThreads, {
    perSender: 40,
    perOrganization: 120,
    all: 1000,
  }),
  search: new Queue('searches under way', 1, { perSender: 8, perOrganization: 24, all: 200 }),
  upload: new Queue('uploads that are being read', mostThreads, {
    perSender: 40,
    perOrganization: 120,
    all: 1000,
  }),
  background: new Queue('tasks under way', 1, {
    perSender: Infinity,
    perOrganization: Infinity,
    all: Infinity,
  }),
}

/** Lasts until it is left, or until nobody waits for the work. Throws 429 or 503 where there are too many. */
export function takePlace({ kind, until, ...owner }: WorkOwner): Place {
  if (until?.aborted === true) throw clientGone()
  const queue = queues[kind]
  const giveBack = queue.places.take(owner)
  const waiting = new Set<Waiting>()
  let isLeft = false
  const leave = () => {
    isLeft = true
    until?.removeEventListener('abort', leave)
    for (const one of waiting) queue.drop(one)
    giveBack()
  }
  until?.addEventListener('abort', leave, { once: true })
  const run: RunTask = <Work extends (input: never) => unknown>(
    module: URL,
    name: string,
    input: Parameters<Work>[0],
    cpuMs: number,
  ) =>
    new Promise<Awaited<ReturnType<Work>>>((resolve, reject) => {
      if (isLeft) return reject(clientGone())
      const one: Waiting = {
        owner,
        task: { module: module.href, name, input },
        cpuMs,
        isGone: () => isLeft,
        resolve(output) {
          waiting.delete(one)
          resolve(output as Awaited<ReturnType<Work>>)
        },
        reject(error) {
          waiting.delete(one)
          reject(error)
        },
      }
      waiting.add(one)
      queue.add(one)
    })
  return { run, leave }
}

export async function withPlace<T>(owner: WorkOwner, work: (place: Place) => Promise<T>): Promise<T> {
  const place = takePlace(owner)
  try {
    return await work(place)
  } finally {
    place.leave()
  }
}

/** One task. */
export const runInThread = <Work extends (input: never) => unknown>(
  owner: WorkOwner,
  module: URL,
  name: string,
  input: Parameters<Work>[0],
  cpuMs: number,
): Promise<Awaited<ReturnType<Work>>> =>
  withPlace(owner, (place) => place.run<Work>(module, name, input, cpuMs))

/** For metrics. */
export const listQueues = () =>
  Object.entries(queues).map(([kind, { places, waiting, running, dropped }]) => ({
    kind,
    waiting: waiting.size,
    running,
    refused: places.refused,
    dropped,
  }))
