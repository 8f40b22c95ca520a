import type { V1Pod } from '@kubernetes/client-node'
import {
  HostedNotFound,
  HostedRefused,
  HostedUnavailable,
  mostOutputBytes,
  type Container,
  type ContainerStatus,
  type Mount,
} from './driver.ts'
import { isImageName } from './image-name.ts'
import { find, label, ours, poll, unlessGone, unlessThere, type Cluster } from './kubernetes-cluster.ts'
import { getImage } from './kubernetes-image-records.ts'
import { describePod, jobContainer, podName, type PodSettings } from './kubernetes-pod.ts'
import { exitStatusOf, readProgress, type Progress } from './kubernetes-progress.ts'
import { ensureRunner } from './kubernetes-runner.ts'
import { findSharedClaim } from './kubernetes-shared.ts'
import { findVolumeClaim } from './kubernetes-volumes.ts'
import type { Registry } from './registry.ts'

export interface StartSettings extends PodSettings {
  registry: Registry
  /** From the order to the start of the command, with everything a node has to be found, bought and pulled for. */
  startSeconds: number
  /** How long a node may take to kill a pod before it counts as gone. */
  stopSeconds: number
}

export async function startContainer(
  cluster: Cluster,
  settings: StartSettings,
  container: Container,
): Promise<void> {
  if ((await findPod(cluster, container.id)) === null) await createPod(cluster, settings, container)
  let reason = ''
  const end = await poll(settings.startSeconds, async () => {
    const pod = await findPod(cluster, container.id)
    if (pod === null) return { kind: 'lost', reason: 'It was removed while it started.' } as const
    const progress = readProgress(pod)
    if (progress.kind !== 'waiting') return progress
    reason = progress.reason
    return undefined
  })
  if (end?.kind === 'started') return
  await stopContainer(cluster, settings, container.id)
  throw failureOf(end ?? { kind: 'waiting', reason }, container.id)
}

function failureOf({ kind, reason }: Exclude<Progress, { kind: 'started' }>, id: string): Error {
  if (kind === 'refused') return new HostedRefused(reason)
  if (kind === 'missing') return new HostedNotFound(reason)
  return new HostedUnavailable(`The pod ${podName(id)} did not start: ${reason}`)
}

async function createPod(cluster: Cluster, settings: StartSettings, container: Container): Promise<void> {
  const { image } = container
  const { namespace } = cluster
  if (!isImageName(image)) throw new HostedRefused(`"${image}" is not the name of an image.`)
  const { registry, runner } = settings
  const isOurImage = registry.holds(image)
  const body = describePod(cluster, settings, container, {
    image: isOurImage ? await getImage(cluster, image) : image,
    isOurImage,
    claims: await Promise.all(container.mounts.map((mount) => findClaim(cluster, container, mount))),
    runnerImage: runner === null ? null : await ensureRunner(cluster, registry, runner),
  })
  await cluster
    .ask((options) => cluster.core.createNamespacedPod({ namespace, body }, options))
    .catch(unlessThere)
}

const findClaim = (cluster: Cluster, { clusterId }: Container, mount: Mount): Promise<string> =>
  mount.kind === 'volume'
    ? findVolumeClaim(cluster, mount.id)
    : findSharedClaim(cluster, clusterId, mount.kind)

/** A node that does not say that the pod is dead has died itself, or cannot be reached: the pod is forgotten. */
export async function stopContainer(
  cluster: Cluster,
  { stopSeconds }: Pick<StartSettings, 'stopSeconds'>,
  id: string,
): Promise<void> {
  if ((await findPod(cluster, id)) === null) return
  const isGone = async () => ((await findPod(cluster, id)) === null ? true : undefined)
  // Without any grace the pod would be forgotten before it is dead.
  for (const gracePeriodSeconds of [1, 0]) {
    await cluster
      .ask((options) =>
        cluster.core.deleteNamespacedPod(
          { namespace: cluster.namespace, name: podName(id), gracePeriodSeconds },
          options,
        ),
      )
      .catch(unlessGone)
    if ((await poll(stopSeconds, isGone)) === true) return
  }
  throw new HostedUnavailable(`The pod ${podName(id)} cannot be removed.`)
}

export async function listContainers(cluster: Cluster): Promise<ContainerStatus[]> {
  const { items } = await listPods(cluster)
  return items.map((pod) => ({
    id: pod.metadata?.labels?.[label.id] ?? '',
    clusterId: pod.metadata?.labels?.[label.cluster] ?? '',
    exitStatus: exitStatusOf(pod),
  }))
}

export const listPods = (cluster: Cluster): Promise<{ items: V1Pod[] }> =>
  cluster.ask((options) =>
    cluster.core.listNamespacedPod(
      { namespace: cluster.namespace, labelSelector: ours(cluster, 'container') },
      options,
    ),
  )

export async function readOutput(cluster: Cluster, id: string): Promise<string> {
  if ((await findPod(cluster, id)) === null) throw new HostedNotFound(`There is no container ${id}.`)
  const { namespace } = cluster
  const request = { namespace, name: podName(id), container: jobContainer, tailLines: 2000 }
  const output = await cluster.ask((options) => cluster.core.readNamespacedPodLog(request, options))
  // The client makes nothing of an empty answer.
  return Buffer.from(output ?? '')
    .subarray(-mostOutputBytes)
    .toString('utf8')
}

const findPod = (cluster: Cluster, id: string): Promise<V1Pod | null> =>
  find(cluster, (options) =>
    cluster.core.readNamespacedPod({ namespace: cluster.namespace, name: podName(id) }, options),
  )
