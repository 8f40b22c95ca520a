import { HostedNotFound, type SharedKind, type SharedVolumes } from '../driver.ts'
import { labels, readSharedVolumes } from '../labels.ts'
import type { Engine } from './engine.ts'
import { deleteNamed, ensureNamed, findNamed, listNamed } from './named-volumes.ts'

const nameOf = (engine: Engine, clusterId: string, kind: SharedKind) =>
  `millrace-${engine.installationId}-${clusterId}-${kind}`

export async function createShared(engine: Engine, clusterId: string, kind: SharedKind): Promise<void> {
  await ensureNamed(engine, nameOf(engine, clusterId, kind), labels(engine, 'shared', clusterId, kind))
}

/** A volume that a container uses stays. */
export async function deleteShared(engine: Engine, clusterId: string, kind: SharedKind): Promise<void> {
  await deleteNamed(engine, nameOf(engine, clusterId, kind))
}

export async function findSharedMount(engine: Engine, clusterId: string, kind: SharedKind): Promise<string> {
  const name = nameOf(engine, clusterId, kind)
  if ((await findNamed(engine, name)) !== null) return name
  throw new HostedNotFound(`The cluster ${clusterId} has no ${kind}.`)
}

export const listSharedVolumes = async (engine: Engine): Promise<SharedVolumes[]> =>
  readSharedVolumes((await listNamed(engine, 'shared')).map((volume) => volume.labels))
