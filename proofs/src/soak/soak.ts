// The soak: starts and kills processes and sends requests, in a planned order.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { check, type Outcome } from './checks.ts'
import { throwDice, type Dice } from '../dice.ts'
import type { Entry } from './ledger.ts'
import { createPipelines, jobsOfRunner, jobsOfSimulated, runnerLines } from './pipelines.ts'
import {
  databaseUrl,
  Server,
  startRunner,
  startSimulated,
  type AgentProcess,
  type Started,
} from './program.ts'
import { restOf, type Rest } from './rest.ts'

export interface Plan {
  seed: number
  /** The time for creating builds and killing processes. The remaining builds get the same time again. */
  seconds: number
  jobs: number
  agents: number
  /** The number of agents that are killed, each in its own process. */
  kills: number
  /** The number of times that the server is killed and restarted. */
  restarts: number
}

/** Only some jobs run on our runner, because their commands are real processes. */
const runnerShare = 0.1

/** Uses an empty data directory, or creates one. */
export async function soak(plan: Plan, data: string | null): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-soak-'))
  const server = new Server(data ?? join(folder, 'data'), {
    MILLRACE_AGENTS: '0',
    // Longer than a busy machine ever delays an agent.
    MILLRACE_AGENT_LOST_SECONDS: '15',
    MILLRACE_ACCEPT_SECONDS: '5',
    MILLRACE_CANCEL_GRACE_SECONDS: '5',
    MILLRACE_PING_HOLD_SECONDS: '2',
  })
  const agents: AgentProcess[] = []
  try {
    const started = await server.start()
    return await soakOn(plan, { server, started, agents, folder })
  } finally {
    await Promise.all(agents.map((agent) => agent.kill()))
    await server.end('SIGTERM')
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
}

interface Scene {
  server: Server
  started: Started
  agents: AgentProcess[]
  folder: string
}

async function soakOn(plan: Plan, scene: Scene): Promise<Outcome> {
  const { server, started, agents, folder } = scene
  const rest = restOf(started.url, started.first?.organization ?? '', started.first?.token ?? '')
  const token = await createPipelines(rest)
  const ledger: Entry[] = []
  const record = (entry: Entry) => ledger.push(entry)
  const chances = throwDice(plan.seed)
  const jobMs = 1000
  const shared = { address: started.url, token, jobMs, streams: 0.5 }
  const start = (count: number) =>
    startSimulated({ ...shared, agents: count, seed: chances.between(0, 2 ** 30) }, record)
  const runner = (count: number) => startRunner({ ...shared, agents: count, folder, queue: 'runner' })

  // Agents that are killed have a process each, every third is our runner; the others share a few.
  const runners = Math.max(1, Math.floor(plan.agents / 10))
  const killable = Array.from({ length: plan.kills }, (_, index) => (index % 3 === 2 ? runner : start))
  const steady = Math.max(2, plan.agents - plan.kills - runners)
  agents.push(await runner(runners), await start(Math.ceil(steady / 2)), await start(Math.floor(steady / 2)))
  const deadline = Date.now() + plan.seconds * 2000 + 600_000
  const work = (async () => {
    const [built] = await Promise.all([
      makeBuilds(rest, plan, throwDice(chances.between(0, 2 ** 30))),
      killAgents(plan, throwDice(chances.between(0, 2 ** 30)), killable, agents),
      killServer(plan, throwDice(chances.between(0, 2 ** 30)), server),
    ])
    return built
  })()
  const built = await within(deadline, work, 'The plan was not carried out in time')
  const db = new pg.Client({ connectionString: databaseUrl(started) })
  await db.connect()
  try {
    await untilQuiet(db, deadline)
    const result = await check(db, rest, { ledger, builds: built, runnerLines })
    return {
      ...result,
      counts: { ...result.counts, 'agents killed': plan.kills, 'restarts of the server': plan.restarts },
    }
  } finally {
    await db.end()
  }
}

/** Creates builds over the first two thirds of the time, and cancels some soon after. */
async function makeBuilds(rest: Rest, plan: Plan, dice: Dice): Promise<number> {
  const byRunner = Math.round((plan.jobs * runnerShare) / jobsOfRunner)
  const simulated = Math.round((plan.jobs * (1 - runnerShare)) / jobsOfSimulated)
  const kinds = [
    ...Array.from({ length: simulated }, () => 'soak-simulated'),
    ...Array.from({ length: byRunner }, () => 'soak-runner'),
  ]
  const span = plan.seconds * 1000 * (2 / 3)
  const moments = kinds.map((slug) => ({ slug, at: dice.next() * span, isCanceled: dice.happens(0.04) }))
  const begin = Date.now()
  await Promise.all(
    moments.map(async ({ slug, at, isCanceled }) => {
      await delay(Math.max(0, begin + at - Date.now()))
      const body = { commit: 'HEAD', branch: 'main', message: 'soak' }
      const { number } = await rest.post<{ number: number }>(`pipelines/${slug}/builds`, body)
      if (!isCanceled) return
      await delay(at % 1500)
      await rest.tryPut(`pipelines/${slug}/builds/${number}/cancel`)
    }),
  )
  return kinds.length
}

async function killAgents(
  plan: Plan,
  dice: Dice,
  killable: ReadonlyArray<(count: number) => Promise<AgentProcess>>,
  agents: AgentProcess[],
): Promise<void> {
  const begin = Date.now()
  await Promise.all(
    killable.map(async (start) => {
      const agent = await start(1)
      agents.push(agent)
      await delay(Math.max(0, begin + (0.1 + dice.next() * 0.6) * plan.seconds * 1000 - Date.now()))
      await agent.kill()
      agents.push(await start(1))
    }),
  )
}

async function killServer(plan: Plan, dice: Dice, server: Server): Promise<void> {
  const begin = Date.now()
  for (let count = 0; count < plan.restarts; count++) {
    const share = 0.1 + (0.6 * (count + dice.next())) / plan.restarts
    await delay(Math.max(0, begin + share * plan.seconds * 1000 - Date.now()))
    await server.end('SIGKILL')
    await delay(dice.between(0, 1000))
    await server.start()
  }
}

/** Waits until all builds have ended, or the time is over. */
async function untilQuiet(db: pg.Client, deadline: number): Promise<void> {
  while (Date.now() < deadline) {
    const { rows } = await db.query<{ n: number }>(
      'select count(*)::int as n from builds where finished_at is null',
    )
    if (rows[0]?.n === 0) return
    await delay(250)
  }
}

async function within<T>(deadline: number, work: Promise<T>, otherwise: string): Promise<T> {
  const waiting = new AbortController()
  const late = delay(deadline - Date.now(), undefined, { signal: waiting.signal }).then(() => {
    throw new Error(otherwise)
  })
  late.catch(() => {})
  try {
    return await Promise.race([work, late])
  } finally {
    waiting.abort()
  }
}
