// Networks in which containers reach the internet but not each other. On Docker, members of one network can be isolated, so
// all jobs share one. Podman cannot do that, so each job gets its own network. Each image build gets its own on both
// engines: build containers may send raw packets and could impersonate other containers.
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { HostedUnavailable, type Container, type ImageBuild } from '../driver.ts'
import { ignoreNotFound } from '../engine-request.ts'
import { label, labels } from '../labels.ts'
import { listOurContainers, ours, type Engine } from './engine.ts'
import { bridgeName } from './firewall.ts'

const sharedName = (engine: Engine) => `millrace-${engine.installationId}`
const ownName = (id: string) => `millrace-${id}`

/** The same for each attempt to build the image, so the next attempt finds the network of an interrupted one. */
const idOfBuild = (ref: string) => `build-${createHash('sha256').update(ref).digest('hex').slice(0, 32)}`
const isOfBuild = (id: string) => id.startsWith('build-')

/** Returns the id of the container's network, because engines allow several networks with one name. */
export async function joinNetwork(engine: Engine, { id, clusterId }: Container): Promise<string> {
  const isOwn = await engine.isPodman()
  return isOwn
    ? ensureNetwork(engine, ownName(id), clusterId, id)
    : ensureNetwork(engine, sharedName(engine), clusterId, engine.installationId)
}

/** Returns the id; on Podman the name, because names are unique there and a build with a network id crashes the service. */
export async function joinBuildNetwork(
  engine: Engine,
  { ref, clusterId }: Pick<ImageBuild, 'ref' | 'clusterId'>,
): Promise<string> {
  const id = idOfBuild(ref)
  const network = await ensureNetwork(engine, ownName(id), clusterId, id)
  return (await engine.isPodman()) ? ownName(id) : network
}

/** How often to look for a network that another request is creating. */
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
      // Another request may have created it, which Podman reports with status 500. Docker reports the conflict before it lists
      // the network.
      const isBegun = error instanceof Error && error.message.includes('conflicts with network')
      for (let looks = isBegun ? mostLooks : 1; looks > 0; looks -= 1) {
        if ((await findNetwork(engine, name)) !== null) return null
        await delay(isBegun ? lookMs : 0)
      }
      throw error
    })
  const chosen = await findNetwork(engine, name)
  if (chosen === null) throw new HostedUnavailable(`The network ${name} vanished after it was made.`)
  // Concurrent requests may have created several. All use the oldest and delete their own.
  if (made !== null && made.id !== chosen) {
    await engine.ask((docker) => docker.getNetwork(made.id).remove()).catch(ignoreNotFound)
  }
  return chosen
}

/** The id of the oldest network with that name. */
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

/** Deletes the container's own network, if it had one. */
export async function leaveNetwork(engine: Engine, containerId: string): Promise<void> {
  if (await engine.isPodman()) await deleteOwn(engine, containerId)
}

export const leaveBuildNetwork = (engine: Engine, ref: string): Promise<void> =>
  deleteOwn(engine, idOfBuild(ref))

async function deleteOwn(engine: Engine, id: string): Promise<void> {
  const own = await findNetwork(engine, ownName(id))
  if (own !== null) await engine.ask((docker) => docker.getNetwork(own).remove()).catch(ignoreNotFound)
}

/** Longer than the time between creating a network and starting its container, or the longest build. */
const startMs = 600_000
const buildMs = 25 * 3_600_000

/** Deletes networks without a container, and networks of abandoned builds. */
export async function deleteEmptyNetworks(engine: Engine): Promise<void> {
  const networks = await engine.ask((docker) => docker.listNetworks({ filters: ours(engine) }))
  const containers = await listOurContainers(engine)
  const used = new Set([engine.installationId, ...containers.map(({ Labels }) => Labels[label.id])])
  for (const { Id, Created = '', Labels } of networks) {
    const id = Labels?.[label.id] ?? ''
    const isYoung = Date.parse(Created) > Date.now() - (isOfBuild(id) ? buildMs : startMs)
    if (used.has(id) || isYoung) continue
    await engine.ask((docker) => docker.getNetwork(Id).remove()).catch(ignoreNotFound)
  }
}
