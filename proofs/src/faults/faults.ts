// The faults. Each is applied while the load goes on, and returns the moment from which recovery counts: the kill where
// another process takes over, otherwise the end of the fault.
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Bucket } from '../../../testbed/dist/bucket.js'
import type { Disturbance } from '../../../testbed/dist/s3-server.js'
import type { Dice } from '../dice.ts'
import type { AloneWorld } from './alone.ts'
import type { SmallDisk } from './full-disk.ts'
import type { Postgres, ShutdownMode } from './postgres.ts'
import { agentLostSeconds, type Supervised, type World } from './world.ts'

interface Applied {
  since: number
  /** Cleans up after recovery was measured. */
  after?(): Promise<unknown>
}

/** Needs several processes (`World`), or one with small disks (`AloneWorld`). */
export interface Fault<W = World> {
  name: string
  /** Recovery may take so long; null: no aim. */
  aimMs: number | null
  apply(world: W, dice: Dice): Promise<Applied>
}

const afterKillMs = 4000
const afterDatabaseMs = 3000
const afterSilenceMs = 15_000

const processFaults: readonly Fault[] = [
  {
    name: 'kill-api',
    aimMs: afterKillMs,
    apply: ({ apis }, dice) => killAll([pick(apis, dice)]),
  },
  {
    name: 'kill-worker',
    aimMs: afterKillMs,
    apply: ({ workers }, dice) => killAll([pick(workers, dice)]),
  },
  {
    name: 'kill-all',
    aimMs: afterKillMs,
    apply: ({ apis, workers }) => killAll([...apis, ...workers]),
  },
  {
    name: 'kill-agents',
    aimMs: afterKillMs,
    async apply({ agents }, dice) {
      const since = Date.now()
      await agents.kill(dice)
      return { since }
    },
  },
  {
    name: 'pause-api',
    aimMs: null,
    apply: ({ apis }, dice) => pause(pick(apis, dice), (agentLostSeconds + 5) * 1000),
  },
  {
    name: 'pause-worker',
    aimMs: null,
    apply: ({ workers }, dice) => pause(pick(workers, dice), (agentLostSeconds + 5) * 1000),
  },
  {
    name: 'pause-agents',
    aimMs: null,
    async apply({ agents }, dice) {
      await agents.pause(dice, (agentLostSeconds + 10) * 1000)
      return { since: Date.now() }
    },
  },
  {
    name: 'agents-cut',
    aimMs: null,
    async apply({ agentNetwork }, dice) {
      for (let time = 0; time < 5; time++) {
        agentNetwork.cut()
        await delay(dice.between(100, 1500))
      }
      return { since: Date.now() }
    },
  },
  {
    name: 'agents-silent',
    aimMs: null,
    async apply({ agentNetwork }) {
      agentNetwork.silence()
      await delay((agentLostSeconds + 10) * 1000)
      agentNetwork.resume()
      return { since: Date.now() }
    },
  },
]

const databaseFaults: readonly Fault[] = [
  {
    name: 'database-fast',
    aimMs: afterDatabaseMs,
    apply: ({ database }) => restart(database.current, 'fast'),
  },
  {
    name: 'database-immediate',
    aimMs: afterDatabaseMs,
    apply: ({ database }) => restart(database.current, 'immediate'),
  },
  {
    name: 'database-cut',
    aimMs: afterDatabaseMs,
    async apply({ database }, dice) {
      for (let time = 0; time < 5; time++) {
        database.proxy.cut()
        await delay(dice.between(100, 1500))
      }
      return { since: Date.now() }
    },
  },
  {
    name: 'database-silent',
    aimMs: afterSilenceMs,
    async apply({ database }) {
      database.proxy.silence()
      await delay(10_000)
      database.proxy.resume()
      return { since: Date.now() }
    },
  },
  {
    name: 'database-failover',
    aimMs: afterDatabaseMs,
    async apply({ database, folder }) {
      const primary = database.current
      const standby = await primary.startStandby(newFolder(folder))
      await primary.waitForStandby()
      await delay(1000)
      await primary.stop('immediate')
      await standby.promote()
      database.current = standby
      return { since: Date.now() }
    },
  },
  {
    name: 'database-read-only',
    aimMs: afterDatabaseMs,
    async apply({ database, folder }) {
      const primary = database.current
      const standby = await primary.startStandby(newFolder(folder))
      database.current = standby
      database.proxy.cut()
      await delay(8000)
      database.current = primary
      return { since: Date.now(), after: () => primary.dismissStandby(standby) }
    },
  },
]

const otherFaults: readonly Fault[] = [
  {
    name: 'store-unavailable',
    aimMs: null,
    apply: ({ store }) => disturb(store, { kind: 'unavailable' }),
  },
  {
    name: 'store-slow',
    aimMs: null,
    apply: ({ store }) => disturb(store, { kind: 'slow', ms: 3000 }),
  },
  {
    name: 'clock-ahead',
    aimMs: null,
    apply: (world, dice) => stepClocks(world, dice, 600),
  },
  {
    name: 'clock-behind',
    aimMs: null,
    apply: (world, dice) => stepClocks(world, dice, -600),
  },
]

async function disturb(store: Bucket, disturbance: Disturbance): Promise<Applied> {
  store.disturb(disturbance)
  await delay(10_000)
  store.disturb(null)
  return { since: Date.now() }
}

async function stepClocks({ apis, workers }: World, dice: Dice, seconds: number): Promise<Applied> {
  const stepped = [pick(apis, dice), pick(workers, dice)]
  for (const server of stepped) server.setClock(seconds)
  await delay(10_000)
  for (const server of stepped) server.setClock(0)
  return { since: Date.now() }
}

const newFolder = (folder: string): string => join(folder, `postgres-${Date.now()}`)

async function restart(postgres: Postgres, mode: ShutdownMode): Promise<Applied> {
  await postgres.stop(mode)
  await postgres.start()
  return { since: Date.now() }
}

const pick = <T>(items: readonly T[], dice: Dice): T => {
  const item = items[dice.between(0, items.length - 1)]
  if (item === undefined) throw new Error('There is nothing to choose from.')
  return item
}

async function killAll(servers: readonly Supervised[]): Promise<Applied> {
  const since = Date.now()
  const killed = await Promise.all(servers.map((server) => server.kill()))
  return { since, after: () => Promise.all(killed.map(({ back }) => back)) }
}

async function pause(server: Supervised, ms: number): Promise<Applied> {
  server.pause()
  await delay(ms)
  server.resume()
  return { since: Date.now() }
}

export const faults: readonly Fault[] = [...processFaults, ...databaseFaults, ...otherFaults]

export const diskFaults: readonly Fault<AloneWorld>[] = [
  { name: 'disk-full-blobs', aimMs: null, apply: ({ disks }) => fill(disks.blobs) },
  { name: 'disk-full-data', aimMs: null, apply: ({ disks }) => fill(disks.data) },
]

const fullMs = 15_000

async function fill(disk: SmallDisk): Promise<Applied> {
  const until = Date.now() + fullMs
  // Programs that fail delete their files, so there is room again.
  while (Date.now() < until) {
    disk.fill()
    await delay(100)
  }
  disk.empty()
  return { since: Date.now() }
}
