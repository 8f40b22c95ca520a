import type Docker from 'dockerode'
import { causeStatus, isKind, orNull, ours, unlessGone, type Engine, type Kind } from './engine.ts'

export interface NamedVolume {
  name: string
  /** Where the engine's own machine has it. */
  path: string
  labels: Record<string, string>
}

export async function findNamed(engine: Engine, name: string): Promise<NamedVolume | null> {
  const found = await engine.ask((docker) => docker.getVolume(name).inspect()).catch(orNull)
  return found === null ? null : read(found)
}

export async function listNamed(engine: Engine, kind: Kind): Promise<NamedVolume[]> {
  const { Volumes } = await engine.ask((docker) => docker.listVolumes({ filters: ours(engine) }))
  return (Volumes ?? []).filter(({ Labels }) => isKind(kind, Labels)).map(read)
}

const read = ({ Name, Mountpoint, Labels }: Docker.VolumeInspectInfo): NamedVolume => ({
  name: Name,
  path: Mountpoint,
  labels: Labels ?? {},
})

/** Makes it unless it is there. */
export async function ensureNamed(
  engine: Engine,
  name: string,
  labels: Record<string, string>,
  options: Record<string, string> = {},
): Promise<NamedVolume> {
  const found = await findNamed(engine, name)
  if (found !== null) return found
  await engine
    .ask((docker) =>
      docker.createVolume({ Name: name, Driver: 'local', Labels: labels, DriverOpts: options }),
    )
    .catch(async (error: unknown) => {
      // Docker does not mind a second request; Podman says that it exists, each version with another status.
      if ((await findNamed(engine, name)) === null) throw error
    })
  const made = await findNamed(engine, name)
  if (made === null) throw new Error(`The volume ${name} vanished after it was made.`)
  return made
}

/** False: a container has it. */
export async function removeNamed(engine: Engine, name: string): Promise<boolean> {
  return engine
    .ask((docker) => docker.getVolume(name).remove())
    .then(
      () => true,
      (error: unknown) => {
        if (causeStatus(error) === 409) return false
        unlessGone(error)
        return true
      },
    )
}
