// Containers reach the world and not each other. Docker has networks whose members cannot speak to one another, so
// one is enough for all jobs. Podman has none, so each job gets a network to itself, and so does each build of an image
// on either engine: what carries out instructions may send raw packets, with which it could speak for its neighbours.
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { bridgeName } from './firewall.ts'
import { label, labels, listOurContainers, ours, unlessGone, type Engine } from './engine.ts'
import { HostedUnavailable, type Container, type ImageBuild } from '../driver.ts'

const sharedName = (engine: Engine) => `millrace-${engine.installationId}`
const ownName = (id: string) => `millrace-${id}`

/** The same for each attempt to build the image, so the next one finds what a process that died has left. */
const idOfBuild = (ref: string) => `build-${createHash('sha256').update(ref).digest('hex').slice(0, 32)}`
const isOfBuild = (id: string) => id.startsWith('build-')

/** Returns the id of the network the container is to be in: engines allow several of one name. */
export async function joinNetwork(engine: Engine, { id, clusterId }: Container): Promise<string> {
  const isOwn = await engine.isPodman()
  return isOwn
    ? ensureNetwork(engine, ownName(id), clusterId, id)
    : ensureNetwork(engine, sharedName(engine), clusterId, engine.installationId)
}

/** Its name on Podman, where names are unique and a build with an id for a network kills the service. */
export async function joinBuildNetwork(
  engine: Engine,
  { ref, clusterId }: Pick<ImageBuild, 'ref' | 'clusterId'>,
): Promise<string> {
  const id = idOfBuild(ref)
  const network = await ensureNetwork(engine, ownName(id), clusterId, id)
  return (await engine.isPodman()) ? ownName(id) : network
}

/** How long a network may take that another request has begun to make. */
const [mostLooks, lookMs] = [100, 50]

async function ensureNetwork(engine: Engine, name: string, clusterId: string, id: string): Promise<string> {
  const isolation = (await engine.isPodman())
    ? { isolate: 'true' }
    : { 'com.docker.network.bridge.enable_icc': 'false' }
  const existing = await findNetwork(engine, name)
  if (existing !== null) return existing
  const made = await engine
    .ask((docker) =>
      docker.createNetwork({
        Name: name,
        Driver: 'bridge',
        CheckDuplicate: true,
        Options: { 'com.docker.network.bridge.name': bridgeName(engine, name), ...isolation },
        Labels: labels(engine, 'network', clusterId, id),
      }),
    )
    .catch(async (error: unknown) => {
      // Another request may have made it, which Podman says with status 500; or is about to, and then Docker says that
      // there is one already before it shows it.
      const isBegun = error instanceof Error && error.message.includes('conflicts with network')
      for (let looks = isBegun ? mostLooks : 1; looks > 0; looks -= 1) {
        if ((await findNetwork(engine, name)) !== null) return null
        await delay(isBegun ? lookMs : 0)
      }
      throw error
    })
  const chosen = await findNetwork(engine, name)
  if (chosen === null) throw new HostedUnavailable(`The network ${name} vanished after it was made.`)
  // Of several that were made at once all take the same one.
  if (made !== null && made.id !== chosen) {
    await engine.ask((docker) => docker.getNetwork(made.id).remove()).catch(unlessGone)
  }
  return chosen
}

/** The oldest of that name. */
async function findNetwork(engine: Engine, name: string): Promise<string | null> {
  const found = await engine.ask((docker) =>
    docker.listNetworks({ filters: { name: [name], ...ours(engine) } }),
  )
  const order = ({ Created, Id }: { Created?: string; Id: string }) => `${Created ?? ''} ${Id}`
  const [oldest] = found
    .filter((network) => network.Name === name)
    .toSorted((a, b) => (order(a) < order(b) ? -1 : 1))
  return oldest?.Id ?? null
}

/** What the container had to itself goes with it. */
export async function leaveNetwork(engine: Engine, containerId: string): Promise<void> {
  if (await engine.isPodman()) await removeOwn(engine, containerId)
}

export const leaveBuildNetwork = (engine: Engine, ref: string): Promise<void> =>
  removeOwn(engine, idOfBuild(ref))

async function removeOwn(engine: Engine, id: string): Promise<void> {
  const own = await findNetwork(engine, ownName(id))
  if (own !== null) await engine.ask((docker) => docker.getNetwork(own).remove()).catch(unlessGone)
}

/** Longer than anything may take from the making of its network to a container in it, or to the end of a build. */
const startMs = 600_000
const buildMs = 25 * 3_600_000

/** Those whose container was never made, or removed by somebody else, and those of builds that nobody took up again. */
export async function removeEmptyNetworks(engine: Engine): Promise<void> {
  const networks = await engine.ask((docker) => docker.listNetworks({ filters: ours(engine) }))
  const containers = await listOurContainers(engine)
  const used = new Set([engine.installationId, ...containers.map(({ Labels }) => Labels[label.id])])
  for (const { Id, Created = '', Labels } of networks) {
    const id = Labels?.[label.id] ?? ''
    const isYoung = Date.parse(Created) > Date.now() - (isOfBuild(id) ? buildMs : startMs)
    if (used.has(id) || isYoung) continue
    await engine.ask((docker) => docker.getNetwork(Id).remove()).catch(unlessGone)
  }
}
