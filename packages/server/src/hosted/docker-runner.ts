// The runner in a volume that every container has, read-only. It is filled once for each version of the runner.
import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { label, labels, type Engine } from './docker-engine.ts'
import { ensureNamed, findNamed, listNamed, removeNamed } from './docker-named-volumes.ts'
import { runnerPath } from './driver.ts'

export interface Runner {
  /** Of its contents: another digest is another volume. At most 64 letters and digits. */
  digest: string
  /** A tar of what is to lie in `runnerPath`. */
  archive(): Readable
  /** The command that starts its Node there, without a shell. */
  node: readonly string[]
}

const fillSeconds = 300

/** Returns the name of the volume. `image` is any that the engine has. */
export async function ensureRunner(engine: Engine, runner: Runner, image: string): Promise<string> {
  const name = `millrace-${engine.installationId}-runner-${runner.digest}`
  // Made last: a volume without it may have been filled half.
  const done = `${name}-done`
  if ((await findNamed(engine, done)) !== null) return name
  const marks = labels(engine, 'runner', '', runner.digest)
  await ensureNamed(engine, name, marks)
  await fill(engine, runner, image, name)
  await ensureNamed(engine, done, marks)
  return name
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

/** Of versions that no process starts containers with any more; those that a container still has are left. */
export async function removeOldRunners(engine: Engine, current: Runner | null): Promise<void> {
  const volumes = await listNamed(engine, 'runner')
  const old = volumes.filter(({ labels: marks }) => marks[label.id] !== current?.digest)
  const name = (volume: { name: string }) => volume.name
  // The mark that it is whole goes first.
  for (const volume of old.map(name).filter((one) => one.endsWith('-done'))) await removeNamed(engine, volume)
  for (const volume of old.map(name).filter((one) => !one.endsWith('-done')))
    await removeNamed(engine, volume)
}
