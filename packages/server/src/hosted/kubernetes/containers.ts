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
import { ignoreExisting, poll, type Cluster } from './cluster.ts'
import { getImage } from './image-records.ts'
import { describePod, jobContainer, podName, type PodParts } from './pod-spec.ts'
import { exitStatusOf, readProgress, type Progress } from './pod-status.ts'
import { deletePod, findPod, listPods, readPodLog } from './pods.ts'
import { isPrepared, type PreparedImages } from './prepared-images.ts'
import { ensureRunner } from './runner-image.ts'
import { findSharedClaim } from './shared-volumes.ts'
import { findVolumeClaim } from './volumes.ts'

export async function startContainer(
  cluster: Cluster,
  prepared: PreparedImages | null,
  container: Container,
): Promise<void> {
  let pod = await findPod(cluster, podName(container.id))
  if (pod === null) await createPod(cluster, prepared, container)
  let reason = ''
  const end = await poll(cluster.settings.startSeconds, async () => {
    pod = await findPod(cluster, podName(container.id))
    if (pod === null) return { kind: 'lost', reason: 'It was removed while it started.' } as const
    const progress = readProgress(pod)
    if (progress.kind !== 'waiting') return progress
    reason = progress.reason
    return undefined
  })
  if (end?.kind === 'started') return
  await stopContainer(cluster, container.id)
  throw failureOf(
    await checkPrepared(cluster, prepared, pod, end ?? { kind: 'waiting', reason }),
    container.id,
  )
}

/** A missing prepared image is our failure, not the caller's. */
async function checkPrepared(
  { registry }: Cluster,
  prepared: PreparedImages | null,
  pod: V1Pod | null,
  end: Failure,
): Promise<Failure> {
  const image = pod?.spec?.containers[0]?.image ?? ''
  if (end.kind !== 'missing' || prepared === null || !isPrepared(registry, image)) return end
  await prepared.invalidate(image)
  return { ...end, kind: 'lost' }
}

type Failure = Exclude<Progress, { kind: 'started' }>

function failureOf({ kind, reason }: Failure, id: string): Error {
  if (kind === 'refused') return new HostedRefused(reason)
  if (kind === 'missing') return new HostedNotFound(reason)
  return new HostedUnavailable(`The pod ${podName(id)} did not start: ${reason}`)
}

async function createPod(
  cluster: Cluster,
  prepared: PreparedImages | null,
  container: Container,
): Promise<void> {
  const { namespace } = cluster
  const [claims, images] = await Promise.all([
    Promise.all(container.mounts.map((mount) => findClaim(cluster, container, mount))),
    findImages(cluster, prepared, container.image),
  ])
  const body = describePod(cluster, container, { ...images, claims })
  await cluster
    .ask((options) => cluster.core.createNamespacedPod({ namespace, body }, options))
    .catch(ignoreExisting)
}

/** Prefers a prepared image, which contains the runner. */
async function findImages(
  cluster: Cluster,
  prepared: PreparedImages | null,
  image: string,
): Promise<Omit<PodParts, 'claims'>> {
  const { runner, baseImage } = cluster.settings
  if (!isImageName(image)) throw new HostedRefused(`"${image}" is not the name of an image.`)
  const built = cluster.registry.holds(image) ? await getImage(cluster, image) : null
  const finding =
    built !== null ? prepared?.find(image, built.digest) : image === baseImage ? prepared?.findBase() : null
  const found = (await finding) ?? null
  if (found !== null) return { image: found, alwaysPull: false, runnerImage: null }
  return {
    image: built === null ? image : `${image}@${built.digest}`,
    alwaysPull: built === null && image !== baseImage,
    runnerImage: runner === null ? null : await ensureRunner(cluster, runner),
  }
}

const findClaim = (cluster: Cluster, { clusterId }: Container, mount: Mount): Promise<string> =>
  mount.kind === 'volume'
    ? findVolumeClaim(cluster, mount.id)
    : findSharedClaim(cluster, clusterId, mount.kind)

/** If the node does not confirm that the pod is dead, the pod is deleted by force: the node is dead or unreachable. */
export async function stopContainer(cluster: Cluster, id: string): Promise<void> {
  const name = podName(id)
  if ((await findPod(cluster, name)) === null) return
  const isGone = async () => ((await findPod(cluster, name)) === null ? true : undefined)
  // With no grace period the pod object would be deleted before its processes are dead.
  for (const gracePeriodSeconds of [1, 0]) {
    await deletePod(cluster, name, gracePeriodSeconds)
    if ((await poll(cluster.settings.stopSeconds, isGone)) === true) return
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
