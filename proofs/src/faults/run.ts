// Runs faults one after another while load goes on, measures recovery after each, and checks everything in the end.
import { tmpdir } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { check } from '../soak/checks.ts'
import { throwDice, type Dice } from '../dice.ts'
import type { Entry } from '../soak/ledger.ts'
import { runnerLines } from '../soak/pipelines.ts'
import { startAlone, type AloneWorld } from './alone.ts'
import { checkMore, failingTasks } from './checks.ts'
import type { Fault } from './faults.ts'
import { whyNoDisk } from './full-disk.ts'
import { startLoad } from './load.ts'
import { installObserver } from './observer.ts'
import { startWorld, type Surroundings, type World, type WorldPlan } from './world.ts'

interface RunPlan<W = World> {
  seed: number
  faults: readonly Fault<W>[]
  /** Faults are repeated until the time is over; null: each happens once. */
  seconds: number | null
  buildsPerMinute: number
  /** The pause after each recovery. Requests that still fail in it are noticed. */
  settleMs: number
}

export interface Measured {
  fault: Pick<Fault, 'name' | 'aimMs'>
  /** null: no command started in time. */
  recoveryMs: number | null
  /** From the same moment to the last request that failed; null: none failed after it. */
  lastFailureMs: number | null
}

export interface RunResult {
  measured: Measured[]
  violations: string[]
  counts: Record<string, number>
  ledger: readonly Entry[]
}

const longestRecoveryMs = 600_000
const quietMs = 600_000

type Say = (line: string) => void

/** Several processes. */
export async function runReplicas(
  worldPlan: Omit<WorldPlan, 'seed'>,
  plan: RunPlan,
  say: Say,
): Promise<RunResult> {
  const world = await startWorld({ ...worldPlan, seed: plan.seed })
  const databaseUrl = () => world.database.current.url
  return withWorld(world, () => runIn({ ...world, databaseUrl }, world, plan, say))
}

/** One process on small disks. */
export async function runAlone(plan: RunPlan<AloneWorld>, say: Say): Promise<RunResult> {
  const problem = whyNoDisk(tmpdir())
  if (problem !== null) {
    say(`Skipped, because no small disk can be mounted (${problem}): ${namesOf(plan.faults)}`)
    return { measured: [], violations: [], counts: {}, ledger: [] }
  }
  const world = await startAlone(plan.seed)
  return withWorld(world, () => runIn(world, world, plan, say))
}

export const mergeResults = (results: readonly RunResult[]): RunResult => ({
  measured: results.flatMap(({ measured }) => measured),
  violations: results.flatMap(({ violations }) => violations),
  counts: sumOf(results.map(({ counts }) => counts)),
  ledger: results.flatMap(({ ledger }) => ledger),
})

export const namesOf = (faults: ReadonlyArray<{ name: string }>): string =>
  faults.map(({ name }) => name).join(', ')

function sumOf(all: ReadonlyArray<Record<string, number>>): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const [what, n] of all.flatMap((counts) => Object.entries(counts))) sums[what] = (sums[what] ?? 0) + n
  return sums
}

/** Closes it in the end. No process is left behind when this one is stopped or has a bug. */
async function withWorld<T>(world: { close(): Promise<void> }, work: () => Promise<T>): Promise<T> {
  const stop = (reason: unknown) => {
    console.error(reason)
    void world.close().finally(() => process.exit(1))
  }
  const events = ['SIGINT', 'SIGTERM', 'uncaughtException', 'unhandledRejection']
  for (const event of events) process.once(event, stop)
  try {
    return await work()
  } finally {
    events.forEach((event) => process.off(event, stop))
    await world.close()
  }
}

/** `world` is what the faults need, `surroundings` are its clients. */
async function runIn<W>(
  surroundings: Surroundings & { databaseUrl(): string },
  world: W,
  plan: RunPlan<W>,
  say: Say,
): Promise<RunResult> {
  const { ledger, rest, violations, probe } = surroundings
  await withDatabase(surroundings.databaseUrl(), installObserver)
  const dice = throwDice(plan.seed)
  const load = startLoad(rest, throwDice(dice.between(0, 2 ** 30)), plan, (entry) => ledger.push(entry))
  // The first build of a process loads code, so it is no measure.
  await probe.measure(Date.now(), longestRecoveryMs)
  const usualMs = await probe.measure(Date.now(), longestRecoveryMs)
  say(`Without a fault, a build starts after ${formatted(usualMs)}.`)
  const measured: Measured[] = []
  for (const fault of orderOf(plan.faults, plan.seconds, dice)) {
    const { since, after } = await fault.apply(world, dice)
    const recoveryMs = await probe.measure(since, longestRecoveryMs)
    await delay(plan.settleMs)
    const lastFailureMs = lastFailure(ledger, since)
    await after?.()
    measured.push({ fault, recoveryMs, lastFailureMs })
    say(`${fault.name}: ${formatted(recoveryMs)}, the last failed request after ${formatted(lastFailureMs)}`)
  }
  const builds = await load.stop()
  say('The load has ended. Waiting until nothing is left to do.')
  return withDatabase(surroundings.databaseUrl(), async (db) => {
    await untilQuiet(db)
    const first = await check(db, rest, { ledger, builds, runnerLines })
    const more = await checkMore(db, { ledger, received: surroundings.receiver.received })
    return {
      measured,
      violations: [...violations, ...lateOnes(measured), ...first.violations, ...more.violations],
      counts: { ...first.counts, ...more.counts },
      ledger,
    }
  })
}

async function withDatabase<T>(url: string, work: (db: pg.Client) => Promise<T>): Promise<T> {
  const db = new pg.Client({ connectionString: url })
  await db.connect()
  try {
    return await work(db)
  } finally {
    await db.end()
  }
}

export const formatted = (ms: number | null): string => (ms === null ? '–' : `${(ms / 1000).toFixed(2)} s`)

const lateOnes = (measured: readonly Measured[]): string[] =>
  measured
    .filter(({ recoveryMs }) => recoveryMs === null)
    .map(({ fault }) => `After ${fault.name} no build started within ${longestRecoveryMs / 1000} s.`)

function lastFailure(ledger: readonly Entry[], since: number): number | null {
  const times = ledger.flatMap((entry) => (entry.kind === 'failure' && entry.at >= since ? [entry.at] : []))
  return times.length === 0 ? null : Math.max(...times) - since
}

/** The faults in an order of the seed, again and again until the time is over. */
function* orderOf<T>(faults: readonly T[], seconds: number | null, dice: Dice): Generator<T> {
  if (seconds === null) return yield* shuffled(faults, dice)
  const deadline = Date.now() + seconds * 1000
  while (Date.now() < deadline) {
    for (const fault of shuffled(faults, dice)) if (Date.now() < deadline) yield fault
  }
}

const shuffled = <T>(items: readonly T[], dice: Dice): T[] =>
  items
    .map((item) => ({ item, place: dice.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)

/** Waits until all builds have ended, all webhooks are delivered and no task fails, or the time is over. */
async function untilQuiet(db: pg.Client): Promise<void> {
  const deadline = Date.now() + quietMs
  while (Date.now() < deadline) {
    const { rows } = await db.query<{ n: number }>(`
      select (select count(*) from builds where finished_at is null)::int
        + (select count(*) from notification_deliveries where state = 'pending')::int
        + (select count(*) from (${failingTasks}) failing)::int as n`)
    if (rows[0]?.n === 0) return
    await delay(250)
  }
}
