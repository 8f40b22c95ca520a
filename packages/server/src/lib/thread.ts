// One worker thread. It runs one task at a time, and is terminated when the task exceeds its processor time or memory.
import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { ApiError } from './errors.ts'
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

export interface Assignment {
  task: ThreadTask
  cpuMs: number
  /** Nobody waits for the result any more. */
  isGone(): boolean
  resolve(output: unknown): void
  reject(error: Error): void
}

interface Listener {
  /** The thread may get another task. */
  onIdle(thread: Thread): void
  onRetired(thread: Thread): void
  onEnd(): void
}

const idleMs = 30_000
const watchMs = 50
/** Ending a thread costs about this much, so a task whose client is gone may use as much before it is terminated. */
const goneCpuMs = 250
/** Where processor time cannot be read, tasks get this many times as long by the clock. */
const clockFactor = 20
const resourceLimits = { maxOldGenerationSizeMb: 768, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 }

/** Nobody reads the answer. */
export const clientGone = () => new ApiError(499, 'The client closed the connection.')

export class Thread {
  private readonly worker: Worker
  private readonly listener: Listener
  /** The operating system's id of the thread. null: unknown on this system. */
  private osId: number | null = null
  private isReady = false
  private current: Assignment | null = null
  private startedMs = 0
  private watch: NodeJS.Timeout | undefined
  private retirement: NodeJS.Timeout | undefined

  constructor(listener: Listener) {
    this.listener = listener
    const main = compiledModule('lib/thread-main.ts')
    this.worker = new Worker(main, { resourceLimits, execArgv: [], env: {} })
    this.worker.on('message', (message: ThreadMessage) => this.receive(message))
    this.worker.on('error', (error) => this.fail(error))
    this.worker.on('exit', () => this.end())
  }

  run(next: Assignment): void {
    clearTimeout(this.retirement)
    this.current = next
    this.worker.ref()
    this.startedMs = this.usedMs()
    this.watch = setInterval(() => this.limit(next), watchMs)
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
    this.listener.onIdle(this)
  }

  private becomeIdle(): void {
    clearInterval(this.watch)
    this.current = null
    this.worker.unref()
    this.retirement = setTimeout(() => {
      this.listener.onRetired(this)
      void this.worker.terminate()
    }, idleMs)
    this.retirement.unref()
  }

  private limit({ cpuMs, isGone }: Assignment): void {
    const allowedMs = isGone() ? Math.min(cpuMs, goneCpuMs) : cpuMs
    const most = this.osId === null ? clockFactor * allowedMs : allowedMs
    if (!this.isReady || this.usedMs() - this.startedMs <= most) return
    this.fail(
      isGone()
        ? clientGone()
        : new ThreadLimitExceeded(`A task took more than ${cpuMs} ms of processor time.`),
    )
    void this.worker.terminate()
  }

  private fail(error: Error): void {
    clearInterval(this.watch)
    const isMemory = Reflect.get(error, 'code') === 'ERR_WORKER_OUT_OF_MEMORY'
    this.current?.reject(isMemory ? new ThreadLimitExceeded('A task took too much memory.') : error)
    this.current = null
  }

  private end(): void {
    this.fail(new Error('A thread ended before its task.'))
    this.listener.onEnd()
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
