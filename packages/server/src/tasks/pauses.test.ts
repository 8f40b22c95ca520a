import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually, useOwnApp } from '../../test/app.ts'
import { anAgent, anAgentWorld } from '../../test/agent-client.ts'
import { aPipeline } from '../../test/builders.ts'
import { aBuild } from '../../test/runs.ts'
import { handlers, neededPollers, startWorkerPauses, wakingChannels } from '../worker.ts'
import { startPauses, type SleepingPauses } from './pauses.ts'
import { startPollers } from './pollers.ts'
import { runTasks } from './run.ts'

const app = useOwnApp()
/** No test waits for it. */
const longMs = 3_600_000

/** A worker that sleeps at once while nothing happens. */
function aSleeper(nextTimes: Parameters<typeof startPauses>[0]['nextTimes'] = []) {
  const pauses = startPauses({ log: app.ctx.log, db: app.db, nextTimes, longestSleepMs: longMs, awakeMs: 0 })
  onTestFinished(pauses.stop)
  return pauses
}

/** Counts the pauses of a loop that ends with the test. */
function aLoop({ pause }: SleepingPauses) {
  const stopping = new AbortController()
  const loop = { pauses: 0 }
  const run = async () => {
    for (; !stopping.signal.aborted; loop.pauses++) await pause(0, stopping.signal)
  }
  const running = run()
  onTestFinished(async () => {
    stopping.abort()
    await running
  })
  return loop
}

const after = (seconds: number) =>
  sql<string | null>`select now() + make_interval(secs => ${sql.lit(seconds)})`

describe('a worker that sleeps', () => {
  it('is woken when work was found, and by what may have made some', async () => {
    const pauses = aSleeper()
    const loop = aLoop(pauses)
    for (const wake of [pauses.stayAwake, pauses.look]) {
      const before = loop.pauses
      wake()
      expect(await eventually('it looks', async () => loop.pauses > before)).toBe(true)
    }
  })

  it('looks when the next time has come that the tables know', async () => {
    const first = new Date(Date.now() + 1000).toISOString()
    const times = [
      after(3600),
      sql<string | null>`select ${sql.lit(first)}::timestamptz`,
      sql<null>`select null::timestamptz`,
    ]
    const loop = aLoop(aSleeper(times))
    expect(await eventually('it has looked', async () => loop.pauses > 0)).toBe(true)
  })

  it('goes on looking while the next time cannot be read', async () => {
    const loop = aLoop(aSleeper([sql`select nothing from nowhere`]))
    expect(await eventually('it has looked several times', async () => loop.pauses > 3)).toBe(true)
  })

  it('ends its pauses when they are aborted', async () => {
    const pauses = aSleeper()
    const stopping = new AbortController()
    const paused = pauses.pause(0, stopping.signal).then(() => 'ended')
    stopping.abort()
    expect(await paused).toBe('ended')
  })
})

describe('a worker', () => {
  async function aWorker() {
    const pauses = startWorkerPauses(app.ctx)
    const tasks = await runTasks(app.database.pool, app.ctx.log, app.ctx, handlers, {
      cron: {},
      pauses,
      wakingChannels,
    })
    const polling = startPollers(app.ctx.log, app.db, app.ctx, neededPollers(app.ctx), { pauses })
    onTestFinished(async () => {
      await Promise.all([tasks.stop(), polling.stop()])
      await pauses.stop()
    })
  }

  it('passes a deadline, and can read the next times of all its loops', async () => {
    const logged = app.logLines.length
    await aWorker()
    const { org, token } = await anAgentWorld(app)
    await aBuild(app, org, await aPipeline(app, org, 'steps: [{ command: one }]'))
    const agent = await anAgent(app, token)
    const run = await agent.begin()
    await sql`update jobs set deadline_at = now() + interval '6 seconds' where id = ${run.id}`.execute(app.db)
    await eventually('the job times out', async () => {
      const { rows } = await sql<{ state: string }>`select state from jobs where id = ${run.id}`.execute(
        app.db,
      )
      return rows[0]?.state !== 'running'
    })
    expect(app.logLines.slice(logged).filter((line) => line.includes('Could not read when'))).toEqual([])
  })
})
