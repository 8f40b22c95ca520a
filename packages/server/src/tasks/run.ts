// Runs background tasks with graphile-worker, which queues, claims and retries them. It creates and migrates a schema of its
// own, `graphile_worker`.
import { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import {
  Logger,
  parseCronItems,
  run,
  runMigrations,
  type Runner,
  type RunnerOptions,
  type TaskList,
  type WorkerEvents,
  type WorkerPool,
} from 'graphile-worker'
import type pg from 'pg'
import type { Logger as Pino } from 'pino'
import { schedule, type Handlers, type Kind } from './kinds.ts'
import { steadyPauses, type Pauses } from './pauses.ts'

export interface RunningTasks {
  stop(): Promise<void>
}

/** Runs a piece of named work, and measures it. */
export type Around = <T>(name: string, run: () => Promise<T>) => Promise<T>

export const unmeasured: Around = (_name, run) => run()

interface TaskRunOptions {
  cron?: Partial<typeof schedule>
  around?: Around
  pauses?: Pauses
  /** Notifications that end a sleep of the worker. They come on the connection that listens for tasks. */
  wakingChannels?: readonly string[]
}

/** Many, since most tasks wait for the network or the blob store. */
const concurrentTasks = 20
const restartAfterMs = 5000
/** How often a worker that is awake looks for tasks that are due. New ones are announced. */
const lookEveryMs = 2000
/** We look ourselves, because this cannot sleep. */
const ownPollMs = 60_000

/** For a process that enqueues tasks but runs none. */
export const migrateTasks = (pool: pg.Pool, log: Pino): Promise<void> =>
  runMigrations({ pgPool: pool, logger: logTo(log), noHandleSignals: true })

/** Returns when tasks are being run. A runner that ends by itself is started again until stop(). */
export async function runTasks<Context>(
  pool: pg.Pool,
  log: Pino,
  context: Context,
  handlers: Handlers<Context>,
  { cron = schedule, around = unmeasured, pauses = steadyPauses, wakingChannels = [] }: TaskRunOptions = {},
): Promise<RunningTasks> {
  const stopping = new AbortController()
  const events: WorkerEvents = new EventEmitter()
  events.on('pool:listen:success', ({ client }) => {
    const listening = wakingChannels.map((channel) => client.query(`listen ${channel}`))
    // Notifications were lost until now. An error breaks the connection, which graphile-worker then opens again.
    void Promise.all(listening).then(pauses.stayAwake, () => {})
  })
  events.on('pool:listen:notification', ({ message }) => {
    if (wakingChannels.includes(message.channel)) pauses.stayAwake()
  })
  let workers: WorkerPool | null = null
  events.on('pool:create', ({ workerPool }) => {
    workers = workerPool
  })
  const start = () =>
    begin(log, {
      events,
      pgPool: pool,
      noHandleSignals: true,
      concurrency: concurrentTasks,
      // One poll for all workers instead of one each. It fetches one task at a time, so that a process with 20 long tasks
      // keeps at most one other waiting.
      preset: { worker: { localQueue: { size: 1 }, pollInterval: ownPollMs } },
      taskList: taskListOf(context, handlers, { around, pauses }),
      parsedCronItems: cronItems(cron),
    })
  let runner: Runner | undefined = await start()

  const keepRunning = async () => {
    while (!stopping.signal.aborted) {
      try {
        runner ??= await start()
        if (stopping.signal.aborted) await runner.stop()
        await runner.promise
      } catch (error) {
        log.error({ err: error }, 'Background work ended with an error.')
      }
      runner = undefined
      await delay(restartAfterMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
  const look = async () => {
    while (!stopping.signal.aborted) {
      await pauses.pause(lookEveryMs, stopping.signal)
      workers?.nudge(1)
    }
  }
  const ended = Promise.all([keepRunning(), look()])

  return {
    async stop() {
      stopping.abort()
      await runner?.stop().catch((error: unknown) => {
        log.warn({ err: error }, 'Background work did not stop cleanly.')
      })
      await ended
    },
  }
}

/**
 * Waits until the runner has asked for a task once. It looks up the ids of its kinds only once: when that fails, it would
 * never find a task. It only logs that error.
 */
async function begin(log: Pino, options: RunnerOptions & { events: WorkerEvents }): Promise<Runner> {
  const failures = new EventEmitter()
  const asked = new Promise<unknown>((resolve) => {
    options.events.once('localQueue:getJobs:complete', () => resolve(undefined))
    failures.once('failed', resolve)
  })
  const logger = logTo(log, (error) => failures.emit('failed', error))
  const runner = await run({ ...options, logger })
  const error = await Promise.race([asked, runner.promise])
  if (error === undefined) return runner
  await runner.stop()
  throw error
}

function taskListOf<Context>(
  context: Context,
  handlers: Handlers<Context>,
  { around, pauses }: { around: Around; pauses: Pauses },
): TaskList {
  // Payloads have the type of their kind, since enqueue.ts checks it.
  const entries = Object.entries(handlers) as [Kind, Handlers<Context>[Kind]][]
  return Object.fromEntries(
    entries.map(([kind, handle]) => [
      kind,
      async (payload: unknown) => {
        try {
          await around(kind, () => handle(context, payload as never))
        } finally {
          pauses.look()
        }
      },
    ]),
  )
}

function cronItems(cron: Partial<typeof schedule>) {
  return parseCronItems(
    Object.entries(cron).map(([task, match]) => ({
      task,
      match,
      // A run that is still waiting is replaced.
      options: { jobKey: task, maxAttempts: 3 },
    })),
  )
}

function logTo(log: Pino, onError: (error: unknown) => void = () => {}): Logger {
  const levels = { error: 'error', warning: 'warn', info: 'debug', debug: 'trace' } as const
  return new Logger(({ taskIdentifier, jobId }) => (level, message, meta) => {
    // A warning that there are more tasks than connections: tasks hold none while they wait for the network.
    if (meta?.['concurrency'] === concurrentTasks) return
    // A warning that short tasks would run faster with a larger local queue. Ours wait for the network.
    if (message.startsWith('Your job batch size (1)')) return
    if (meta?.['error'] !== undefined) onError(meta['error'])
    log[levels[level]]({ task: taskIdentifier, task_id: jobId }, message)
  })
}
