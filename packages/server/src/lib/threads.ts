// Runs CPU-bound work in worker threads, so that it does not block the event loop. A thread runs one task at a time. A
// thread whose task exceeds its limit of processor time or memory is terminated, and the next task gets a new one.
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { ApiError, unavailable } from './errors.ts'
import { compiledModule } from './package-files.ts'

/** A message to a thread: the module, the name of its exported function, and the argument. */
export interface ThreadTask {
  module: string
  name: string
  input: unknown
}

/** A message from a thread: first its id, then the result of each task. */
export type ThreadMessage =
  | { kind: 'ready'; threadId: number | null }
  | { kind: 'done'; output: unknown }
  | { kind: 'failed'; message: string; stack: string | undefined; status: number | null }

/** A task exceeded its processor time or memory. The same input would do so again. */
export class ThreadLimitExceeded extends Error {}

interface Waiting {
  task: ThreadTask
  cpuMs: number
  resolve: (output: unknown) => void
  reject: (error: Error) => void
}

const mostThreads = Math.min(2, availableParallelism())
const mostWaiting = 500
const idleMs = 30_000
const watchMs = 50
/** Where processor time cannot be read, tasks get this many times as long by the clock. */
const clockFactor = 20
const resourceLimits = { maxOldGenerationSizeMb: 768, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 }

const waiting: Waiting[] = []
const idle: Thread[] = []
let threads = 0

/** Calls an exported function of a compiled module in a thread. Input and output are copied; an `ApiError` stays one. */
export function runInThread<Work extends (input: never) => unknown>(
  module: URL,
  name: string,
  input: Parameters<Work>[0],
  cpuMs: number,
): Promise<Awaited<ReturnType<Work>>> {
  if (waiting.length >= mostWaiting)
    return Promise.reject(unavailable('The server is busy. Asking again is safe.'))
  return new Promise((resolve, reject) => {
    waiting.push({
      task: { module: module.href, name, input },
      cpuMs,
      resolve: (output) => resolve(output as Awaited<ReturnType<Work>>),
      reject,
    })
    startNext()
  })
}

function startNext(): void {
  while (waiting.length > 0) {
    const thread = idle.pop() ?? (threads < mostThreads ? new Thread() : undefined)
    if (thread === undefined) return
    const next = waiting.shift()
    if (next !== undefined) thread.run(next)
  }
}

class Thread {
  private readonly worker: Worker
  /** The operating system's id of the thread. null: unknown on this system. */
  private osId: number | null = null
  private isReady = false
  private current: Waiting | null = null
  private startedMs = 0
  private watch: NodeJS.Timeout | undefined
  private retirement: NodeJS.Timeout | undefined

  constructor() {
    threads += 1
    const main = compiledModule('lib/thread-main.ts')
    this.worker = new Worker(main, { resourceLimits, execArgv: [], env: {} })
    this.worker.on('message', (message: ThreadMessage) => this.receive(message))
    this.worker.on('error', (error) => this.fail(error))
    this.worker.on('exit', () => this.end())
  }

  run(next: Waiting): void {
    clearTimeout(this.retirement)
    this.current = next
    this.worker.ref()
    this.startedMs = this.usedMs()
    this.watch = setInterval(() => this.limit(next.cpuMs), watchMs)
    this.worker.postMessage(next.task, [])
  }

  private receive(message: ThreadMessage): void {
    if (message.kind === 'ready') {
      this.osId = message.threadId
      this.isReady = true
      this.startedMs = this.usedMs()
      return
    }
    const { current } = this
    if (current === null) return
    this.becomeIdle()
    if (message.kind === 'done') current.resolve(message.output)
    else current.reject(errorOf(message))
    startNext()
  }

  private becomeIdle(): void {
    clearInterval(this.watch)
    this.current = null
    this.worker.unref()
    this.retirement = setTimeout(() => {
      idle.splice(idle.indexOf(this), 1)
      void this.worker.terminate()
    }, idleMs)
    this.retirement.unref()
    idle.push(this)
  }

  private limit(cpuMs: number): void {
    const most = this.osId === null ? clockFactor * cpuMs : cpuMs
    if (!this.isReady || this.usedMs() - this.startedMs <= most) return
    this.fail(new ThreadLimitExceeded(`A task took more than ${cpuMs} ms of processor time.`))
    void this.worker.terminate()
  }

  private fail(error: Error): void {
    clearInterval(this.watch)
    const isMemory = Reflect.get(error, 'code') === 'ERR_WORKER_OUT_OF_MEMORY'
    this.current?.reject(isMemory ? new ThreadLimitExceeded('A task took too much memory.') : error)
    this.current = null
  }

  private end(): void {
    threads -= 1
    this.fail(new Error('A thread ended before its task.'))
    startNext()
  }

  private usedMs(): number {
    return this.osId === null ? performance.now() : processorMs(this.osId)
  }
}

function processorMs(osId: number): number {
  try {
    const [nanoseconds = ''] = readFileSync(`/proc/self/task/${osId}/schedstat`, 'utf8').split(' ', 1)
    return Number(nanoseconds) / 1e6
  } catch {
    return 0
  }
}

function errorOf({ message, stack, status }: ThreadMessage & { kind: 'failed' }): Error {
  const error = status === null ? new Error(message) : new ApiError(status, message)
  if (stack !== undefined) error.stack = stack
  return error
}
