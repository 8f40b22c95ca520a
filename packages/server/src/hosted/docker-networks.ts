// Containers reach the world and not each other. Docker has networks whose members cannot speak to one another, so
// one is enough. Podman has none, so each container gets a network to itself.
import { bridgeName } from './docker-fence.ts'
import { label, labels, listOurContainers, ours, unlessGone, type Engine } from './docker-engine.ts'
import { HostedUnavailable, type Container } from './driver.ts'

const sharedName = (engine: Engine) => `millrace-${engine.installationId}`
const ownName = (containerId: string) => `millrace-${containerId}`

/** Returns the id of the network the container is to be in: engines allow several of one name. */
export async function joinNetwork(engine: Engine, { id, clusterId }: Container): Promise<string> {
  const isPodman = await engine.isPodman()
  const name = isPodman ? ownName(id) : sharedName(engine)
  const existing = await findNetwork(engine, name)
  if (existing !== null) return existing
  const made = await engine
    .ask((docker) =>
      docker.createNetwork({
        Name: name,
        Driver: 'bridge',
        CheckDuplicate: true,
        Options: {
          'com.docker.network.bridge.name': bridgeName(engine, name),
          ...(isPodman ? { isolate: 'true' } : { 'com.docker.network.bridge.enable_icc': 'false' }),
        },
        Labels: labels(engine, 'network', clusterId, isPodman ? id : engine.installationId),
      }),
    )
    .catch(async (error: unknown) => {
      // Another request may have made it, which Podman says with status 500.
      if ((await findNetwork(engine, name)) === null) throw error
      return null
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
  if (!(await engine.isPodman())) return
  const own = await findNetwork(engine, ownName(containerId))
  if (own !== null) await engine.ask((docker) => docker.getNetwork(own).remove()).catch(unlessGone)
}

/** Those whose container was never made, or removed by somebody else. One that is in use cannot be removed. */
export async function removeEmptyNetworks(engine: Engine): Promise<void> {
  if (!(await engine.isPodman())) return
  const networks = await engine.ask((docker) => docker.listNetworks({ filters: ours(engine) }))
  const containers = await listOurContainers(engine)
  const used = new Set(containers.map(({ Labels }) => Labels[label.id]))
  const isYoung = ({ Created = '' }) => Date.parse(Created) > Date.now() - 600_000
  for (const network of networks) {
    if (used.has(network.Labels?.[label.id] ?? '') || isYoung(network)) continue
    await engine.ask((docker) => docker.getNetwork(network.Name).remove()).catch(unlessGone)
  }
}
