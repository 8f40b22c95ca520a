import type Docker from 'dockerode'
import { ignoreNotFound, nullIfNotFound } from '../engine-request.ts'
import type { Kind, Labels } from '../labels.ts'
import { causeStatus, isKind, ours, type Engine } from './engine.ts'

export interface NamedVolume {
  name: string
  /** On the engine's machine. */
  path: string
  labels: Labels
}

export async function findNamed(engine: Engine, name: string): Promise<NamedVolume | null> {
  const found = await engine.ask((docker) => docker.getVolume(name).inspect()).catch(nullIfNotFound)
  return found === null ? null : read(found)
}

export async function listNamed(engine: Engine, kind: Kind): Promise<NamedVolume[]> {
  const { Volumes } = await engine.ask((docker) => docker.listVolumes({ filters: ours(engine) }))
  return (Volumes ?? []).filter(({ Labels: marks }) => isKind(kind, marks)).map(read)
}

const read = ({ Name, Mountpoint, Labels: marks }: Docker.VolumeInspectInfo): NamedVolume => ({
  name: Name,
  path: Mountpoint,
  labels: marks ?? {},
})

export async function ensureNamed(
  engine: Engine,
  name: string,
  labels: Labels,
  options: Record<string, string> = {},
): Promise<NamedVolume> {
  const found = await findNamed(engine, name)
  if (found !== null) return found
  await engine
    .ask((docker) =>
      docker.createVolume({ Name: name, Driver: 'local', Labels: labels, DriverOpts: options }),
    )
    .catch(async (error: unknown) => {
      // Podman refuses to create an existing volume, with a status that depends on its version. Docker does not.
      if ((await findNamed(engine, name)) === null) throw error
    })
  const made = await findNamed(engine, name)
  if (made === null) throw new Error(`The volume ${name} vanished after it was made.`)
  return made
}

/** False: a container uses it. */
export async function deleteNamed(engine: Engine, name: string): Promise<boolean> {
  return engine
    .ask((docker) => docker.getVolume(name).remove())
    .then(
      () => true,
      (error: unknown) => {
        if (causeStatus(error) === 409) return false
        ignoreNotFound(error)
        return true
      },
    )
}
