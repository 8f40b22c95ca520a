// Runs background work over graphile-worker, which queues, claims and retries. It keeps its own schema,
// `graphile_worker`, and migrates it by itself.
import { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import {
  Logger,
  parseCronItems,
  run,
  type Runner,
  type RunnerOptions,
  type TaskList,
  type WorkerEvents,
} from 'graphile-worker'
import type pg from 'pg'
import type { Logger as Pino } from 'pino'
import { schedule, type Handlers, type Kind } from './kinds.ts'

export interface RunningTasks {
  stop(): Promise<void>
}

const concurrentTasks = 4
const restartAfterMs = 5000

/** Returns when work is being done. Should the runner end by itself, it is started again until stop(). */
export async function runTasks<Context>(
  pool: pg.Pool,
  log: Pino,
  context: Context,
  handlers: Handlers<Context>,
  times: Partial<typeof schedule> = schedule,
): Promise<RunningTasks> {
  const stopping = new AbortController()
  const start = () =>
    begin({
      pgPool: pool,
      logger: logTo(log),
      noHandleSignals: true,
      concurrency: concurrentTasks,
      taskList: taskListOf(context, handlers),
      parsedCronItems: cronItems(times),
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
  const ended = keepRunning()

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
 * Waits until the runner has asked for work and was answered. It looks up its kinds only once, and if that fails, asks in
 * vain as long as it runs.
 */
async function begin(options: RunnerOptions): Promise<Runner> {
  const events: WorkerEvents = new EventEmitter()
  const asked = new Promise<Error | undefined>((resolve) => {
    for (const answered of ['worker:getJob:empty', 'job:start'] as const)
      events.once(answered, () => resolve(undefined))
    events.once('worker:getJob:error', ({ error }) => resolve(error as Error))
  })
  const runner = await run({ ...options, events })
  // Should it end by itself before, it is for that reason.
  const error = await Promise.race([asked, runner.promise])
  if (error === undefined) return runner
  await runner.stop()
  throw error
}

function taskListOf<Context>(context: Context, handlers: Handlers<Context>): TaskList {
  // graphile-worker hands over what was enqueued for the kind, which is what the kind declares.
  const entries = Object.entries(handlers) as [Kind, Handlers<Context>[Kind]][]
  return Object.fromEntries(
    entries.map(([kind, handle]) => [
      kind,
      async (payload: unknown) => void (await handle(context, payload as never)),
    ]),
  )
}

function cronItems(times: Partial<typeof schedule>) {
  return parseCronItems(
    Object.entries(times).map(([task, match]) => ({
      task,
      match,
      // A run that still waits is replaced, not joined by a second.
      options: { jobKey: task, maxAttempts: 3 },
    })),
  )
}

function logTo(log: Pino): Logger {
  const levels = { error: 'error', warning: 'warn', info: 'debug', debug: 'trace' } as const
  return new Logger(({ taskIdentifier, jobId }) => (level, message) => {
    log[levels[level]]({ task: taskIdentifier, task_id: jobId }, message)
  })
}
