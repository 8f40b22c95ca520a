import { setTimeout as delay } from 'node:timers/promises'
import type { V1ContainerState, V1ContainerStateTerminated, V1Pod } from '@kubernetes/client-node'
import { HostedInUse, HostedRefused, HostedUnavailable, type ImageBuild } from '../driver.ts'
import { buildName, buildSteps, describeBuild, type BuildStep } from './build-job.ts'
import { deleteObject, find, poll, type Cluster } from './cluster.ts'
import { deleteRecord, findRecord, listRecords, saveRecord, shortHash } from './image-records.ts'
import { podLog, type PodLog } from './pod-log.ts'
import { missingImage, whyFailed, whyWaiting } from './pod-status.ts'
import { listPods } from './pods.ts'
import { isMadeFrom, type PreparedImages } from './prepared-images.ts'

const lookMs = 500
const goneSeconds = 60

export async function buildImage(
  cluster: Cluster,
  prepared: PreparedImages | null,
  build: ImageBuild,
): Promise<void> {
  const { ref, clusterId, signal } = build
  signal.throwIfAborted()
  const body = describeBuild(cluster, build)
  const replaced = await findRecord(cluster, 'image', ref)
  // A build left by a process that died could push after this one.
  await deleteBuild(cluster, ref)
  try {
    const { namespace } = cluster
    await cluster.ask((options) => cluster.batch.createNamespacedJob({ namespace, body }, options))
    const digest = await follow(cluster, build)
    await saveRecord(cluster, 'image', clusterId, { ref, digest })
    // Prepares the image before its first job. If that fails, the job tries again.
    await prepared?.find(ref, digest).catch(() => null)
    // If deleting the replaced image fails, the registry's own garbage collection has to do it.
    if (replaced !== null && replaced.digest !== digest) {
      await deleteFromRegistry(cluster, replaced).catch(() => {})
    }
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    // If this fails, the next build of that name deletes it, or Kubernetes after the deadline.
    await deleteBuild(cluster, ref).catch(() => {})
  }
}

/** Follows the build until the image is pushed. Returns its digest. */
async function follow(cluster: Cluster, build: ImageBuild): Promise<string> {
  const logs = new Map<BuildStep, PodLog>()
  let waits: string | null = null
  for (;;) {
    build.signal.throwIfAborted()
    const pod = await findBuildPod(cluster, build.ref)
    for (const step of pod === null ? [] : buildSteps) {
      const { running, terminated } = stateOf(pod, step)
      if (running === undefined && terminated === undefined) break
      const log = logs.get(step) ?? podLog(cluster, pod?.metadata?.name ?? '', step, build.onLog)
      logs.set(step, log)
      await log.read()
      if (terminated === undefined) break
      if (terminated.exitCode !== 0) throw failureOf(step, terminated, log.tail().trim())
      if (step === 'push') return digestIn(terminated)
    }
    const waitsFor = pod === null ? null : whyWaiting(pod)
    if (waitsFor !== null && waitsFor !== waits) build.onLog(`The build waits: ${waitsFor}\n`)
    waits = waitsFor ?? waits
    const reason = await findEnd(cluster, build.ref, pod)
    if (reason !== null) {
      const waited = waits === null ? '' : ` It had waited: ${waits}`
      throw new HostedUnavailable(`The build was ended: ${reason}${waited}`)
    }
    await delay(lookMs, undefined, { signal: build.signal }).catch(() => {})
  }
}

const stateOf = (pod: V1Pod | null, step: BuildStep): V1ContainerState =>
  [...(pod?.status?.initContainerStatuses ?? []), ...(pod?.status?.containerStatuses ?? [])].find(
    ({ name }) => name === step,
  )?.state ?? {}

/** Refused only if the builder names an error in the instructions or in the base image. */
function failureOf(step: BuildStep, { exitCode, reason }: V1ContainerStateTerminated, output: string): Error {
  const [, error = ''] = /^error: (failed to solve: [\s\S]*)$/m.exec(output) ?? []
  const isRefused = step === 'base' ? missingImage.test(error) : step === 'build' && error !== ''
  if (isRefused) return new HostedRefused(error)
  if (step === 'build' && reason === 'OOMKilled') {
    return new HostedRefused('The build used more memory than it may.')
  }
  return new HostedUnavailable(
    `The builder failed at its step "${step}" with ${exitCode}: ${output || reason}`,
  )
}

function digestIn({ message = '' }: V1ContainerStateTerminated): string {
  const [digest] = /sha256:[0-9a-f]{64}/.exec(message) ?? []
  if (digest === undefined) throw new HostedUnavailable('The builder did not say what it pushed.')
  return digest
}

/** Why the build will not continue; null: it is running. */
async function findEnd(cluster: Cluster, ref: string, pod: V1Pod | null): Promise<string | null> {
  if (pod?.status?.phase === 'Failed') return whyFailed(pod)
  const job = await findBuild(cluster, ref)
  if (job === null) return 'It was removed.'
  const failed = job.status?.conditions?.find(({ type, status }) => type === 'Failed' && status === 'True')
  return failed === undefined ? null : (failed.message ?? failed.reason ?? 'The job failed.')
}

const findBuild = (cluster: Cluster, ref: string) =>
  find(cluster, (options) =>
    cluster.batch.readNamespacedJob({ namespace: cluster.namespace, name: buildName(ref) }, options),
  )

async function findBuildPod(cluster: Cluster, ref: string): Promise<V1Pod | null> {
  const [pod] = await listPods(cluster, 'build', shortHash(ref))
  return pod ?? null
}

async function deleteBuild(cluster: Cluster, ref: string): Promise<void> {
  if ((await findBuild(cluster, ref)) === null) return
  const request = { namespace: cluster.namespace, name: buildName(ref), propagationPolicy: 'Foreground' }
  await deleteObject(cluster, (options) => cluster.batch.deleteNamespacedJob(request, options))
  const isGone = await poll(goneSeconds, async () =>
    (await findBuild(cluster, ref)) === null && (await findBuildPod(cluster, ref)) === null
      ? true
      : undefined,
  )
  if (isGone === null) throw new HostedUnavailable(`The job ${buildName(ref)} cannot be removed.`)
}

export async function deleteImage(
  cluster: Cluster,
  prepared: PreparedImages | null,
  ref: string,
): Promise<void> {
  const record = await findRecord(cluster, 'image', ref)
  if (record === null) return
  const pods = await listPods(cluster, 'container')
  const isUsed = pods.some(({ spec }) => spec?.containers.some(({ image }) => isMadeFrom(image ?? '', ref)))
  if (isUsed) {
    throw new HostedInUse(`A container is made from the image ${ref}; it can be deleted when that has ended.`)
  }
  await prepared?.deleteCopies(ref)
  await deleteFromRegistry(cluster, record)
  await deleteRecord(cluster, 'image', ref)
}

const deleteFromRegistry = (
  { registry }: Cluster,
  { ref, digest }: { ref: string; digest: string },
): Promise<void> => registry.deleteImage(ref.replace(/:[^:/]*$/, ''), digest)

export const listImages = async (cluster: Cluster): Promise<string[]> =>
  (await listRecords(cluster, 'image')).map(({ ref }) => ref)
