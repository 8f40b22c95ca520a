import { runnerPath, type Container, type Mount } from '../hosted/driver.ts'
import type { OwnVolume } from '../resources/clusters/cache_volumes/queries.ts'
import type { HostedAgent } from './queries.ts'
import { readRunnableShape } from './rules.ts'

export const runnerCommand = `${runnerPath}/run`

export const mirrorsPath = '/var/lib/millrace/mirrors'

const paths = {
  cache: '/var/lib/millrace/cache',
  /** Where container tools store the layers of images. */
  container_cache: '/var/lib/containers',
}

export function describeContainer(
  agent: HostedAgent,
  own: readonly OwnVolume[],
  { endpoint, token }: { endpoint: string; token: string },
): Container {
  const shape = readRunnableShape(agent.instance_shape)
  if (shape === null) throw new Error(`No machine of the shape ${agent.instance_shape} can be started.`)
  const hasCache = own.some(({ purpose }) => purpose === 'cache')
  const mirror: Mount[] = agent.git_mirror ? [{ kind: 'git_mirror', path: mirrorsPath, readOnly: true }] : []
  return {
    id: agent.id,
    clusterId: agent.cluster_id,
    image: agent.image_ref,
    command: [runnerCommand],
    limits: shape.limits,
    mounts: [
      ...own.map(({ id, purpose }): Mount => ({ kind: 'volume', id, path: paths[purpose] })),
      ...mirror,
    ],
    environment: {
      MILLRACE_RUNNER_ENDPOINT: endpoint,
      MILLRACE_RUNNER_TOKEN: token,
      MILLRACE_RUNNER_NAME: `hosted-${agent.id.slice(-12)}`,
      MILLRACE_RUNNER_TAGS: [`queue=${agent.queue_key}`, ...shape.tags].join(','),
      ...(hasCache ? { MILLRACE_RUNNER_CACHE: paths.cache } : {}),
      ...(agent.git_mirror ? { MILLRACE_RUNNER_MIRRORS: mirrorsPath } : {}),
    },
  }
}
