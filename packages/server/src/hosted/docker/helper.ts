// A helper is a short-lived container that runs one shell script inside the engine, where the volumes are.
import { randomUUID } from 'node:crypto'
import type Docker from 'dockerode'
import { HostedUnavailable } from '../driver.ts'
import { label, labels } from '../labels.ts'
import { deleteContainer } from './delete-container.ts'
import { isKind, listOurContainers, ulimits, type Engine } from './engine.ts'

const helperSeconds = 600

/** Returns the script's output. The engine must have the helper image. */
export async function runHelper(
  engine: Engine,
  /** The id of the volume it works on, for `deleteHelpers`. */
  id: string,
  script: string,
  mounts: Docker.MountSettings[],
  more: Docker.HostConfig = {},
): Promise<string> {
  const container = await engine.ask((docker) =>
    docker.createContainer({
      name: `millrace-helper-${randomUUID()}`,
      Image: engine.settings.helperImage,
      Entrypoint: ['/bin/sh', '-c', script],
      Cmd: [],
      User: '0',
      // With a terminal the output has no stream headers.
      Tty: true,
      Labels: labels(engine, 'helper', '', id),
      HostConfig: {
        NetworkMode: 'none',
        Ulimits: ulimits,
        LogConfig: { Type: 'json-file', Config: {} },
        Mounts: mounts,
        ...more,
      },
    }),
  )
  try {
    await engine.ask(() => container.start())
    const { StatusCode } = (await engine.ask(() => container.wait(), helperSeconds)) as { StatusCode: number }
    const output = (
      await engine.ask(() => container.logs({ stdout: true, stderr: true, follow: false }))
    ).toString()
    if (StatusCode !== 0) throw new HostedUnavailable(`A helper ended with ${StatusCode}: ${output.trim()}`)
    return output
  } finally {
    await engine.ask(() => container.remove({ force: true, v: true })).catch(() => {})
  }
}

/** Deletes the helpers of this volume that interrupted calls left. */
export async function deleteHelpers(engine: Engine, id: string): Promise<void> {
  await deleteWhere(engine, (helper) => helper.Labels[label.id] === id)
}

export async function deleteOldHelpers(engine: Engine): Promise<void> {
  await deleteWhere(engine, ({ Created }) => Created * 1000 < Date.now() - 2 * helperSeconds * 1000)
}

async function deleteWhere(
  engine: Engine,
  matches: (helper: Docker.ContainerInfo) => boolean,
): Promise<void> {
  const all = await listOurContainers(engine)
  const helpers = all.filter(({ Labels }) => isKind('helper', Labels))
  await Promise.all(helpers.filter(matches).map(({ Id }) => deleteContainer(engine, Id)))
}
