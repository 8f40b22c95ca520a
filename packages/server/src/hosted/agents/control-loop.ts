// Keeps hosted agents going: plans, starts and stops them as soon as a queue or an agent has news, and every second.
// Any number of replicas do so side by side; each works on what it has a lease for.
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { agentChannel, queueChannel } from '../../conductor/wake.ts'
import type { Context } from '../../context.ts'
import { listen } from '../../db/listener.ts'
import type { RunningTasks } from '../../tasks/run.ts'
import { planAgents } from './plan.ts'
import * as hosted from './queries.ts'
import { startAgent } from './start.ts'
import { endAgents, stopAgent } from './stop.ts'

const everyMs = 1000
/** News come in bunches; one look serves them all. */
const pauseMs = 20
const leaseSeconds = 60
const mostAtOnce = 20

export async function hostAgents(ctx: Context, pool: pg.Pool): Promise<RunningTasks> {
  const stopping = new AbortController()
  const busy = new Set<Promise<unknown>>()
  let wake = () => {}
  const spawn = (work: Promise<unknown>) => {
    const watched = work
      .catch((error: unknown) => ctx.log.error({ err: error }, 'A hosted agent was left as it is.'))
      .finally(() => {
        busy.delete(watched)
        wake()
      })
    busy.add(watched)
  }
  let isWoken = false
  let interrupt = new AbortController()
  wake = () => {
    isWoken = true
    interrupt.abort()
  }
  const loop = async () => {
    while (!stopping.signal.aborted) {
      isWoken = false
      await turn(ctx, spawn).catch((error: unknown) =>
        ctx.log.error({ err: error }, 'Hosted agents could not be looked after.'),
      )
      await delay(pauseMs)
      interrupt = new AbortController()
      if (isWoken) continue
      const signal = AbortSignal.any([stopping.signal, interrupt.signal])
      await delay(everyMs, undefined, { signal }).catch(() => {})
    }
  }
  const listener = await listen(pool, {
    channels: { [queueChannel]: () => wake(), [agentChannel]: () => wake() },
    onConnected: () => wake(),
    onError: (error) => ctx.log.warn({ err: error }, 'Lost the connection that hears of hosted jobs.'),
  })
  const ended = loop()
  return {
    async stop() {
      stopping.abort()
      await Promise.all([ended, listener.stop()])
      await Promise.all(busy)
    },
  }
}

/** One look at everything. What takes long is spawned. */
export async function turn(ctx: Context, spawn: (work: Promise<unknown>) => void): Promise<void> {
  const { hosted: driver, config } = ctx
  const { hosted: settings } = config
  if (driver === null || settings === null) return
  await endAgents(ctx)
  await planAgents(ctx)
  const lease = { at: ctx.now().toISOString(), seconds: leaseSeconds, most: mostAtOnce }
  for (const agent of await hosted.claim(ctx.db, 'stopping', lease)) spawn(stopAgent(ctx, driver, agent))
  for (const agent of await hosted.claim(ctx.db, 'starting', lease)) {
    spawn(startAgent(ctx, driver, settings, agent))
  }
}
