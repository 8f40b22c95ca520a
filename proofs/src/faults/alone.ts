// One process with the embedded PostgreSQL, as `npm start` runs it, on small disks. It is started again whenever it ends,
// because it ends when its database does.
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../../testbed/dist/free-port.js'
import { startBalancer } from '../../../testbed/dist/balancer.js'
import { databaseUrl, Server, type Started } from '../soak/program.ts'
import { SmallDisk } from './full-disk.ts'
import { commonSettings, inFolder, surround, type Closing, type Surroundings } from './world.ts'

export interface AloneWorld extends Surroundings {
  /** The data directory, and the folder of blobs in it. */
  disks: { data: SmallDisk; blobs: SmallDisk }
  databaseUrl(): string
  close(): Promise<void>
}

/** The write-ahead log of PostgreSQL may take most of it. */
const dataMb = 1200
const blobsMb = 100
const restartMs = 500

export const startAlone = (seed: number): Promise<AloneWorld> =>
  inFolder((folder, closing) => build(seed, folder, closing))

async function build(seed: number, folder: string, closing: Closing): Promise<Omit<AloneWorld, 'close'>> {
  const data = SmallDisk.mount(join(folder, 'data'), dataMb)
  closing.push(() => data.unmount())
  const blobs = SmallDisk.mount(join(data.path, 'blobs'), blobsMb)
  closing.push(() => blobs.unmount())
  // It keeps the address while the process restarts.
  const balancer = await startBalancer()
  closing.push(balancer.close)
  const port = await freePort()
  const settings = {
    ...commonSettings,
    PORT: String(port),
    MILLRACE_URL: balancer.url,
    MILLRACE_ROLES: 'api,worker',
  }
  const started = await keepRunning(data.path, settings, join(folder, 'server.log'), closing)
  balancer.add(`http://127.0.0.1:${port}`)
  while (balancer.ready() < 1) await delay(20)
  const url = databaseUrl(started)
  const plan = { seed, simulatedAgents: 8, runners: 1 }
  const surroundings = await surround({ plan, folder, closing, networks: [balancer.url], violations: [] })
  return { ...surroundings, disks: { data, blobs }, databaseUrl: () => url }
}

/** Returns when it has started for the first time. */
async function keepRunning(
  dataDir: string,
  settings: Record<string, string>,
  logFile: string,
  closing: Closing,
): Promise<Started> {
  const stopping = new AbortController()
  let ended: (value: unknown) => void = () => {}
  const server = new Server(dataDir, settings, { logFile, onExit: (reason) => ended(reason) })
  const startOnce = async () => {
    const ending = new Promise((resolve) => (ended = resolve))
    return { started: await server.start(), ending }
  }
  const { started, ending } = await startOnce()
  const keepUp = async (first: Promise<unknown>) => {
    await first
    while (!stopping.signal.aborted) {
      await delay(restartMs, undefined, { signal: stopping.signal }).catch(() => {})
      if (stopping.signal.aborted) return
      // A start on a full disk is refused.
      await startOnce().then(
        (run) => run.ending,
        () => {},
      )
    }
  }
  const keeping = keepUp(ending)
  closing.push(async () => {
    stopping.abort()
    await server.end('SIGTERM')
    ended('stopped')
    await keeping
  })
  return started
}
