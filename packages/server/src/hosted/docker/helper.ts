// Short work inside the engine, where its volumes are: a container that runs one shell script and is gone.
import { randomUUID } from 'node:crypto'
import type Docker from 'dockerode'
import { isKind, label, labels, listOurContainers, type Engine } from './engine.ts'
import { removeContainer } from './delete-container.ts'
import { ulimits } from './ulimits.ts'
import { HostedUnavailable } from '../driver.ts'

export interface HelperMount {
  volume: string
  path: string
  readOnly: boolean
}

const helperSeconds = 600

/** Returns what it wrote. */
export async function runHelper(
  engine: Engine,
  image: string,
  /** What it works for. */
  id: string,
  script: string,
  mounts: readonly HelperMount[],
  more: Docker.HostConfig = {},
): Promise<string> {
  const container = await engine.ask((docker) =>
    docker.createContainer({
      name: `millrace-helper-${randomUUID()}`,
      Image: image,
      Entrypoint: ['/bin/sh', '-c', script],
      Cmd: [],
      User: '0',
      // Its output comes as it is, not in pieces with headers.
      Tty: true,
      Labels: labels(engine, 'helper', '', id),
      HostConfig: {
        NetworkMode: 'none',
        Ulimits: ulimits,
        LogConfig: { Type: 'json-file', Config: {} },
        Mounts: mounts.map(({ volume, path, readOnly }) => ({
          Type: 'volume',
          Source: volume,
          Target: path,
          ReadOnly: readOnly,
        })),
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

/** Those that worked for this, and whose process died or was cut off while it waited for them. */
export async function removeHelpers(engine: Engine, id: string): Promise<void> {
  await remove(engine, (helper) => helper.Labels[label.id] === id)
}

/** Nothing lasts longer than a helper may take. */
export async function removeOldHelpers(engine: Engine): Promise<void> {
  await remove(engine, ({ Created }) => Created * 1000 < Date.now() - 2 * helperSeconds * 1000)
}

async function remove(engine: Engine, isMeant: (helper: Docker.ContainerInfo) => boolean): Promise<void> {
  const all = await listOurContainers(engine)
  const helpers = all.filter(({ Labels }) => isKind('helper', Labels))
  await Promise.all(helpers.filter(isMeant).map(({ Id }) => removeContainer(engine, Id)))
}
