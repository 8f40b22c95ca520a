// The runner in a volume that every container has, read-only. It is filled once for each version of the runner.
import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { label, labels, type Engine } from './engine.ts'
import { ensureNamed, findNamed, listNamed, removeNamed, type NamedVolume } from './named-volumes.ts'
import { runnerPath } from '../driver.ts'

export interface Runner {
  /** Of its contents: another digest is another volume. At most 64 letters and digits. */
  digest: string
  /** A tar of what is to lie in `runnerPath`. */
  archive(): Readable
  /** The command that starts its Node there, without a shell. */
  node: readonly string[]
}

const fillSeconds = 300

/** On the mark: the volume that is whole. */
const volumeLabel = 'millrace.runner-volume'
const madeLabel = 'millrace.made-at'

const markName = (engine: Engine, runner: Runner) =>
  `millrace-${engine.installationId}-runner-${runner.digest}`

const filling = new WeakMap<Engine, Promise<string>>()

/** Returns the name of the volume. `image` is any that the engine has once `isThere`. */
export async function ensureRunner(
  engine: Engine,
  runner: Runner,
  image: string,
  isThere: Promise<void>,
): Promise<string> {
  const mark = await findNamed(engine, markName(engine, runner))
  const whole = mark?.labels[volumeLabel]
  if (whole !== undefined) return whole
  await isThere
  const begun = filling.get(engine) ?? makeRunner(engine, runner, image)
  filling.set(engine, begun)
  return begun.finally(() => filling.delete(engine))
}

/**
 * Each attempt fills a volume of its own, since to write to one that a container already runs from would kill what runs
 * there. The first that is whole gets the mark, for everybody.
 */
async function makeRunner(engine: Engine, runner: Runner, image: string): Promise<string> {
  const name = `${markName(engine, runner)}-${randomUUID().slice(0, 8)}`
  const marks = labels(engine, 'runner', '', runner.digest)
  await ensureNamed(engine, name, { ...marks, [madeLabel]: String(Date.now()) })
  await fill(engine, runner, image, name)
  const mark = await ensureNamed(engine, markName(engine, runner), { ...marks, [volumeLabel]: name })
  const chosen = mark.labels[volumeLabel] ?? name
  if (chosen !== name) await removeNamed(engine, name)
  return chosen
}

/** Files can be put into a container that never starts. */
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

/** Of versions that no process starts containers with any more, and attempts that were cut off. */
export async function removeOldRunners(engine: Engine, current: Runner | null): Promise<void> {
  const volumes = await listNamed(engine, 'runner')
  const isMark = ({ labels: marks }: NamedVolume) => marks[volumeLabel] !== undefined
  const old = volumes.filter(({ labels: marks }) => marks[label.id] !== current?.digest)
  // The mark that it is whole goes first. What a container still has is left.
  for (const { name } of old.filter(isMark)) await removeNamed(engine, name)
  const whole = new Set(volumes.map(({ labels: marks }) => marks[volumeLabel]))
  const isLost = ({ name, labels: marks }: NamedVolume) =>
    !whole.has(name) && Number(marks[madeLabel]) < Date.now() - 2 * fillSeconds * 1000
  const attempts = volumes.filter((volume) => !isMark(volume))
  for (const volume of attempts) {
    if (old.includes(volume) || isLost(volume)) await removeNamed(engine, volume.name)
  }
}
