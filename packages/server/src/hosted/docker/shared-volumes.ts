// What the containers of one cluster share: a volume for each switch that is on.
import { label, labels, type Engine } from './engine.ts'
import { ensureNamed, findNamed, listNamed, removeNamed } from './named-volumes.ts'
import { HostedNotFound, sharedKinds, type ClusterSwitches, type SharedKind } from '../driver.ts'

const nameOf = (engine: Engine, clusterId: string, kind: SharedKind) =>
  `millrace-${engine.installationId}-${clusterId}-${kind}`

export async function setShared(
  engine: Engine,
  clusterId: string,
  kind: SharedKind,
  enabled: boolean,
): Promise<void> {
  const name = nameOf(engine, clusterId, kind)
  if (enabled) await ensureNamed(engine, name, labels(engine, 'shared', clusterId, kind))
  else await removeNamed(engine, name)
}

export async function findSharedMount(engine: Engine, clusterId: string, kind: SharedKind): Promise<string> {
  const name = nameOf(engine, clusterId, kind)
  if ((await findNamed(engine, name)) !== null) return name
  throw new HostedNotFound(`The cluster ${clusterId} has no ${kind}.`)
}

export async function listSwitches(engine: Engine): Promise<ClusterSwitches[]> {
  const volumes = await listNamed(engine, 'shared')
  const clusterIds = new Set(volumes.map(({ labels: marks }) => marks[label.cluster] ?? ''))
  return [...clusterIds].map((clusterId) => {
    const [gitMirror = false, containerCache = false] = sharedKinds.map((kind) =>
      volumes.some(({ name }) => name === nameOf(engine, clusterId, kind)),
    )
    return { clusterId, gitMirror, containerCache }
  })
}
