// The runner in a volume that every container mounts read-only. Each version of the runner is written once.
import { randomUUID } from 'node:crypto'
import { runnerPath, type Runner } from '../driver.ts'
import { label, labels } from '../labels.ts'
import type { Engine } from './engine.ts'
import { deleteNamed, ensureNamed, findNamed, listNamed, type NamedVolume } from './named-volumes.ts'

const fillSeconds = 300

/** A label of the marker, an empty volume that names the completely written one. */
const volumeLabel = 'millrace.runner-volume'
const madeLabel = 'millrace.made-at'

const markerName = (engine: Engine, runner: Runner) =>
  `millrace-${engine.installationId}-runner-${runner.digest}`

const filling = new WeakMap<Engine, Promise<string>>()

/** Returns the name of the volume. `image` can be any; the engine has it once `isThere` resolves. */
export async function ensureRunner(
  engine: Engine,
  runner: Runner,
  image: string,
  isThere: Promise<void>,
): Promise<string> {
  const marker = await findNamed(engine, markerName(engine, runner))
  const whole = marker?.labels[volumeLabel]
  if (whole !== undefined) return whole
  await isThere
  const begun = filling.get(engine) ?? makeRunner(engine, runner, image)
  filling.set(engine, begun)
  return begun.finally(() => filling.delete(engine))
}

/**
 * Each attempt writes to its own volume, because writing to one that a container runs from would kill that container. The
 * first complete volume gets the marker, and all containers use it.
 */
async function makeRunner(engine: Engine, runner: Runner, image: string): Promise<string> {
  const name = `${markerName(engine, runner)}-${randomUUID().slice(0, 8)}`
  const marks = labels(engine, 'runner', '', runner.digest)
  await ensureNamed(engine, name, { ...marks, [madeLabel]: String(Date.now()) })
  await fill(engine, runner, image, name)
  const marker = await ensureNamed(engine, markerName(engine, runner), { ...marks, [volumeLabel]: name })
  const chosen = marker.labels[volumeLabel] ?? name
  if (chosen !== name) await deleteNamed(engine, name)
  return chosen
}

/** Writes through a container that is created but never started. */
async function fill(engine: Engine, runner: Runner, image: string, volume: string): Promise<void> {
  const container = await engine.ask((docker) =>
    docker.createContainer({
      name: `millrace-helper-${randomUUID()}`,
      Image: image,
      Entrypoint: ['/bin/true'],
      Labels: labels(engine, 'helper', '', ''),
      HostConfig: {
        NetworkMode: 'none',
        Mounts: [{ Type: 'volume', Source: volume, Target: runnerPath }],
      },
    }),
  )
  try {
    await engine.ask(() => container.putArchive(runner.archive(), { path: runnerPath }), fillSeconds)
  } finally {
    await engine.ask(() => container.remove({ force: true })).catch(() => {})
  }
}

/** Deletes the volumes of other versions and of interrupted attempts. */
export async function deleteOldRunners(engine: Engine, current: Runner | null): Promise<void> {
  const volumes = await listNamed(engine, 'runner')
  const isMarker = ({ labels: marks }: NamedVolume) => marks[volumeLabel] !== undefined
  const old = volumes.filter(({ labels: marks }) => marks[label.id] !== current?.digest)
  // The marker is deleted first. Volumes that containers use stay.
  for (const { name } of old.filter(isMarker)) await deleteNamed(engine, name)
  const whole = new Set(volumes.map(({ labels: marks }) => marks[volumeLabel]))
  const isLost = ({ name, labels: marks }: NamedVolume) =>
    !whole.has(name) && Number(marks[madeLabel]) < Date.now() - 2 * fillSeconds * 1000
  const attempts = volumes.filter((volume) => !isMarker(volume))
  for (const volume of attempts) {
    if (old.includes(volume) || isLost(volume)) await deleteNamed(engine, volume.name)
  }
}
