import type { V1Pod } from '@kubernetes/client-node'
import {
  HostedNotFound,
  HostedRefused,
  HostedUnavailable,
  mostOutputBytes,
  type Container,
  type ContainerStatus,
  type Mount,
} from '../driver.ts'
import { isImageName } from '../image-name.ts'
import { find, label, ours, poll, unlessGone, unlessThere, type Cluster } from './cluster.ts'
import { isEquipped, type Equipped } from './prepared-images.ts'
import { getImage } from './image-records.ts'
import { describePod, jobContainer, podName, type PodParts, type PodSettings } from './pod-spec.ts'
import { exitStatusOf, readProgress, type Progress } from './pod-status.ts'
import { ensureRunner } from './runner-image.ts'
import { findSharedClaim } from './shared-volumes.ts'
import { findVolumeClaim } from './volumes.ts'
import type { Registry } from '../registry/registry.ts'

export interface StartSettings extends PodSettings {
  registry: Registry
  /** What every node may be supposed to have pulled for us. */
  baseImage: string
  /** null: no runner is wanted. */
  equipped: Equipped | null
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
  let pod = await findPod(cluster, container.id)
  if (pod === null) await createPod(cluster, settings, container)
  let reason = ''
  const end = await poll(settings.startSeconds, async () => {
    pod = await findPod(cluster, container.id)
    if (pod === null) return { kind: 'lost', reason: 'It was removed while it started.' } as const
    const progress = readProgress(pod)
    if (progress.kind !== 'waiting') return progress
    reason = progress.reason
    return undefined
  })
  if (end?.kind === 'started') return
  await stopContainer(cluster, settings, container.id)
  throw failureOf(await judge(settings, pod, end ?? { kind: 'waiting', reason }), container.id)
}

/** Nobody's order is wrong because an image that we made on the side is not there any more. */
async function judge(
  { registry, equipped }: StartSettings,
  pod: V1Pod | null,
  end: Failure,
): Promise<Failure> {
  const image = pod?.spec?.containers[0]?.image ?? ''
  if (end.kind !== 'missing' || equipped === null || !isEquipped(registry, image)) return end
  await equipped.lose(image)
  return { ...end, kind: 'lost' }
}

type Failure = Exclude<Progress, { kind: 'started' }>

function failureOf({ kind, reason }: Failure, id: string): Error {
  if (kind === 'refused') return new HostedRefused(reason)
  if (kind === 'missing') return new HostedNotFound(reason)
  return new HostedUnavailable(`The pod ${podName(id)} did not start: ${reason}`)
}

async function createPod(cluster: Cluster, settings: StartSettings, container: Container): Promise<void> {
  const { namespace } = cluster
  const [claims, images] = await Promise.all([
    Promise.all(container.mounts.map((mount) => findClaim(cluster, container, mount))),
    findImages(cluster, settings, container.image),
  ])
  const body = describePod(cluster, settings, container, { ...images, claims })
  await cluster
    .ask((options) => cluster.core.createNamespacedPod({ namespace, body }, options))
    .catch(unlessThere)
}

/** With the runner in it, where that can be. */
async function findImages(
  cluster: Cluster,
  { registry, runner, equipped, baseImage }: StartSettings,
  image: string,
): Promise<Omit<PodParts, 'claims'>> {
  if (!isImageName(image)) throw new HostedRefused(`"${image}" is not the name of an image.`)
  const isOurs = registry.holds(image)
  const built = isOurs ? await getImage(cluster, image) : null
  const whole =
    built !== null ? equipped?.find(image, built.digest) : image === baseImage ? equipped?.findBase() : null
  const found = (await whole) ?? null
  if (found !== null) return { image: found, isAskedFor: false, runnerImage: null }
  return {
    image: built === null ? image : `${image}@${built.digest}`,
    isAskedFor: built === null && image !== baseImage,
    runnerImage: runner === null ? null : await ensureRunner(cluster, registry, runner),
  }
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
