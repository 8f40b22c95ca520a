// Short work inside the engine, where its volumes are: a container that runs one shell script and is gone.
import { randomUUID } from 'node:crypto'
import { labels, ours, type Engine } from './docker-engine.ts'
import { HostedUnavailable } from './driver.ts'

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
  script: string,
  mounts: readonly HelperMount[],
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
      Labels: labels(engine, 'helper', '', ''),
      HostConfig: {
        NetworkMode: 'none',
        LogConfig: { Type: 'json-file', Config: {} },
        Mounts: mounts.map(({ volume, path, readOnly }) => ({
          Type: 'volume',
          Source: volume,
          Target: path,
          ReadOnly: readOnly,
        })),
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

/** Those whose process died while it waited for them. Nothing lasts longer than a helper may take. */
export async function removeOldHelpers(engine: Engine): Promise<void> {
  const helpers = await engine.ask((docker) =>
    docker.listContainers({ all: true, filters: ours(engine, 'helper') }),
  )
  const old = helpers.filter(({ Created }) => Created * 1000 < Date.now() - 2 * helperSeconds * 1000)
  await Promise.all(
    old.map(({ Id }) => engine.ask((docker) => docker.getContainer(Id).remove({ force: true, v: true }))),
  )
}
