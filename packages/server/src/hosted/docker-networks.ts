// Containers reach the world and not each other. Docker has networks whose members cannot speak to one another, so
// one is enough. Podman has none, so each container gets a network to itself.
import { causeStatus, label, labels, ours, unlessGone, type Engine } from './docker-engine.ts'
import type { Container } from './driver.ts'

const sharedName = (engine: Engine) => `millrace-${engine.installationId}`
const ownName = (containerId: string) => `millrace-${containerId}`

/** Returns the name of the network the container is to be in. */
export async function joinNetwork(engine: Engine, { id, clusterId }: Container): Promise<string> {
  const isPodman = await engine.isPodman()
  const name = isPodman ? ownName(id) : sharedName(engine)
  const existing = await engine.ask((docker) =>
    docker.listNetworks({ filters: { name: [name], ...ours(engine, 'network') } }),
  )
  if (existing.some((network) => network.Name === name)) return name
  const options = isPodman ? { isolate: 'true' } : { 'com.docker.network.bridge.enable_icc': 'false' }
  await engine
    .ask((docker) =>
      docker.createNetwork({
        Name: name,
        Driver: 'bridge',
        CheckDuplicate: true,
        Options: options,
        Labels: labels(engine, 'network', clusterId, isPodman ? id : engine.installationId),
      }),
    )
    .catch((error: unknown) => {
      // Another request made it.
      if (causeStatus(error) !== 409) throw error
    })
  return name
}

/** What the container had to itself goes with it. */
export async function leaveNetwork(engine: Engine, containerId: string): Promise<void> {
  if (!(await engine.isPodman())) return
  await engine.ask((docker) => docker.getNetwork(ownName(containerId)).remove()).catch(unlessGone)
}

/** Those whose container was never made, or removed by somebody else. One that is in use cannot be removed. */
export async function removeEmptyNetworks(engine: Engine): Promise<void> {
  if (!(await engine.isPodman())) return
  const networks = await engine.ask((docker) => docker.listNetworks({ filters: ours(engine, 'network') }))
  const containers = await engine.ask((docker) =>
    docker.listContainers({ all: true, filters: ours(engine, 'container') }),
  )
  const used = new Set(containers.map(({ Labels }) => Labels[label.id]))
  const isYoung = ({ Created = '' }) => Date.parse(Created) > Date.now() - 600_000
  for (const network of networks) {
    if (used.has(network.Labels?.[label.id] ?? '') || isYoung(network)) continue
    await engine.ask((docker) => docker.getNetwork(network.Name).remove()).catch(unlessGone)
  }
}
