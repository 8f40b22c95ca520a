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
import { label } from '../labels.ts'
import type { Registry } from '../registry/registry.ts'
import { ignoreExisting, poll, type Cluster } from './cluster.ts'
import { getImage } from './image-records.ts'
import { describePod, jobContainer, podName, type PodParts, type PodSettings } from './pod-spec.ts'
import { exitStatusOf, readProgress, type Progress } from './pod-status.ts'
import { deletePod, findPod, listPods, readPodLog } from './pods.ts'
import { isPrepared, type PreparedImages } from './prepared-images.ts'
import { ensureRunner } from './runner-image.ts'
import { findSharedClaim } from './shared-volumes.ts'
import { findVolumeClaim } from './volumes.ts'

export interface StartSettings extends PodSettings {
  registry: Registry
  /** Nodes may use their own copy of it without asking the registry. */
  baseImage: string
  /** null: no runner is used. */
  preparedImages: PreparedImages | null
  /** From the request to the start of the command, including a new node and the pull of the image. */
  startSeconds: number
  /** How long a node may take to kill a pod before it counts as dead. */
  stopSeconds: number
}

export async function startContainer(
  cluster: Cluster,
  settings: StartSettings,
  container: Container,
): Promise<void> {
  let pod = await findPod(cluster, podName(container.id))
  if (pod === null) await createPod(cluster, settings, container)
  let reason = ''
  const end = await poll(settings.startSeconds, async () => {
    pod = await findPod(cluster, podName(container.id))
    if (pod === null) return { kind: 'lost', reason: 'It was removed while it started.' } as const
    const progress = readProgress(pod)
    if (progress.kind !== 'waiting') return progress
    reason = progress.reason
    return undefined
  })
  if (end?.kind === 'started') return
  await stopContainer(cluster, settings, container.id)
  throw failureOf(await checkPrepared(settings, pod, end ?? { kind: 'waiting', reason }), container.id)
}

/** A missing prepared image is our failure, not the caller's. */
async function checkPrepared(
  { registry, preparedImages }: StartSettings,
  pod: V1Pod | null,
  end: Failure,
): Promise<Failure> {
  const image = pod?.spec?.containers[0]?.image ?? ''
  if (end.kind !== 'missing' || preparedImages === null || !isPrepared(registry, image)) return end
  await preparedImages.invalidate(image)
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
    .catch(ignoreExisting)
}

/** Prefers a prepared image, which contains the runner. */
async function findImages(
  cluster: Cluster,
  { registry, runner, preparedImages, baseImage }: StartSettings,
  image: string,
): Promise<Omit<PodParts, 'claims'>> {
  if (!isImageName(image)) throw new HostedRefused(`"${image}" is not the name of an image.`)
  const isOurs = registry.holds(image)
  const built = isOurs ? await getImage(cluster, image) : null
  const finding =
    built !== null
      ? preparedImages?.find(image, built.digest)
      : image === baseImage
        ? preparedImages?.findBase()
        : null
  const prepared = (await finding) ?? null
  if (prepared !== null) return { image: prepared, alwaysPull: false, runnerImage: null }
  return {
    image: built === null ? image : `${image}@${built.digest}`,
    alwaysPull: built === null && image !== baseImage,
    runnerImage: runner === null ? null : await ensureRunner(cluster, registry, runner),
  }
}

const findClaim = (cluster: Cluster, { clusterId }: Container, mount: Mount): Promise<string> =>
  mount.kind === 'volume'
    ? findVolumeClaim(cluster, mount.id)
    : findSharedClaim(cluster, clusterId, mount.kind)

/** If the node does not confirm that the pod is dead, the pod is deleted by force: the node is dead or unreachable. */
export async function stopContainer(
  cluster: Cluster,
  { stopSeconds }: Pick<StartSettings, 'stopSeconds'>,
  id: string,
): Promise<void> {
  const name = podName(id)
  if ((await findPod(cluster, name)) === null) return
  const isGone = async () => ((await findPod(cluster, name)) === null ? true : undefined)
  // With no grace period the pod object would be deleted before its processes are dead.
  for (const gracePeriodSeconds of [1, 0]) {
    await deletePod(cluster, name, gracePeriodSeconds)
    if ((await poll(stopSeconds, isGone)) === true) return
  }
  throw new HostedUnavailable(`The pod ${name} cannot be removed.`)
}

export async function listContainers(cluster: Cluster): Promise<ContainerStatus[]> {
  const pods = await listPods(cluster, 'container')
  return pods.map((pod) => ({
    id: pod.metadata?.labels?.[label.id] ?? '',
    clusterId: pod.metadata?.labels?.[label.cluster] ?? '',
    exitStatus: exitStatusOf(pod),
  }))
}

export async function readOutput(cluster: Cluster, id: string): Promise<string> {
  const name = podName(id)
  if ((await findPod(cluster, name)) === null) throw new HostedNotFound(`There is no container ${id}.`)
  const output = await readPodLog(cluster, { name, container: jobContainer, tailLines: 2000 })
  return Buffer.from(output).subarray(-mostOutputBytes).toString('utf8')
}
