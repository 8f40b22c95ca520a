// The control loop of hosted agents: plans, starts and stops them when a queue or an agent changes, and every second. Any number
// of replicas run it side by side; each works only on agents that it holds a lease for.
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { agentChannel, queueChannel } from '../conductor/dispatch/wake.ts'
import type { Context } from '../context.ts'
import { eachBatchApart } from '../db/each-row.ts'
import { listen } from '../db/listener.ts'
import type { RunningTasks } from '../tasks/run.ts'
import { planAgents } from './plan.ts'
import * as hosted from './queries.ts'
import { startAgent } from './start.ts'
import { setEndedStopping, stopAgent } from './stop.ts'

const everyMs = 1000
/** Notifications come in bursts, so wait a moment and handle them all. */
const pauseMs = 20
const leaseSeconds = 60
const mostAtOnce = 20

export async function runHostedAgents(ctx: Context, pool: pg.Pool): Promise<RunningTasks> {
  const stopping = new AbortController()
  const busy = new Set<Promise<unknown>>()
  let isWoken = false
  let interrupt = new AbortController()
  const wake = () => {
    isWoken = true
    interrupt.abort()
  }
  const spawn = (work: Promise<unknown>) => {
    const watched = work
      .catch((error: unknown) => ctx.log.error({ err: error }, 'The start or stop of a hosted agent failed.'))
      .finally(() => {
        busy.delete(watched)
        wake()
      })
    busy.add(watched)
  }
  const loop = async () => {
    while (!stopping.signal.aborted) {
      isWoken = false
      await runOnce(ctx, spawn).catch((error: unknown) =>
        ctx.log.error({ err: error }, 'The control loop of hosted agents failed; it runs again in a second.'),
      )
      await delay(pauseMs)
      interrupt = new AbortController()
      if (isWoken) continue
      const signal = AbortSignal.any([stopping.signal, interrupt.signal])
      await delay(everyMs, undefined, { signal }).catch(() => {})
    }
  }
  const listener = await listen(pool, {
    channels: { [queueChannel]: wake, [agentChannel]: wake },
    onConnected: wake,
    onError: (error) =>
      ctx.log.warn({ err: error }, 'Lost the database connection that listens for hosted jobs.'),
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

/** Starts and stops, which take long, are spawned. */
async function runOnce(ctx: Context, spawn: (work: Promise<unknown>) => void): Promise<void> {
  const { hosted: driver, config } = ctx
  const { hosted: settings } = config
  if (driver === null || settings === null) return
  await setEndedStopping(ctx)
  await planAgents(ctx)
  const lease = { at: ctx.now().toISOString(), seconds: leaseSeconds, most: mostAtOnce }
  for (const state of ['stopping', 'starting'] as const) {
    const due = await hosted.listDue(ctx.db, state, lease)
    await eachBatchApart(ctx, 'hosted_agents_due', due, String, async (ids) => {
      for (const agent of await hosted.claim(ctx.db, ids, state, lease))
        spawn(state === 'stopping' ? stopAgent(ctx, driver, agent) : startAgent(ctx, driver, settings, agent))
    })
  }
}
