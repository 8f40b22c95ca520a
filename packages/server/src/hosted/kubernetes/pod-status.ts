// Whether a pod has started, from its Kubernetes status.
import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node'
import { badCommand } from '../engine-request.ts'
import { jobContainer } from './pod-spec.ts'

export type Progress =
  | { kind: 'started' }
  /** It may still start. */
  | { kind: 'waiting'; reason: string }
  /** It will never start: the command cannot run, or the image does not exist. */
  | { kind: 'refused' | 'missing'; reason: string }
  /** Another pod with the same spec may start. */
  | { kind: 'lost'; reason: string }

export function readProgress(pod: V1Pod): Progress {
  const { status, metadata } = pod
  if (metadata?.deletionTimestamp !== undefined) return { kind: 'lost', reason: 'The pod is being removed.' }
  const job = status?.containerStatuses?.find(({ name }) => name === jobContainer)
  const ended = job?.state?.terminated
  if (job?.state?.running !== undefined) return { kind: 'started' }
  if (ended !== undefined) {
    const reason = ended.message ?? ended.reason ?? ''
    const isBadStart = ['StartError', 'ContainerCannotRun'].includes(ended.reason ?? '')
    if (isBadStart || (ended.reason === 'Error' && badCommand.test(reason))) return refused(reason)
    return { kind: 'started' }
  }
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') {
    return { kind: 'lost', reason: whyFailed(pod) }
  }
  const [runner] = (status?.initContainerStatuses ?? []).flatMap((one) => readWaiting(one) ?? [])
  // The runner's image is ours, so a failed pull of it is not the caller's error.
  if (runner !== undefined) return { ...runner, kind: 'waiting' }
  const waiting = job === undefined ? null : readWaiting(job)
  if (waiting !== null) return waiting
  return { kind: 'waiting', reason: unscheduled(status) ?? 'The pod has not started yet.' }
}

type Waiting = Exclude<Progress, { kind: 'started' }>

function readWaiting({ state, image }: V1ContainerStatus): Waiting | null {
  const { reason = '', message = '' } = state?.waiting ?? {}
  if (reason === 'InvalidImageName') return refused(message)
  if (badCommand.test(message)) return refused(message)
  if (['ErrImagePull', 'ImagePullBackOff', 'ErrImageNeverPull'].includes(reason)) {
    return missingImage.test(message)
      ? { kind: 'missing', reason: `There is no image ${image} that the cluster may pull: ${message}` }
      : { kind: 'waiting', reason: message }
  }
  return reason === '' || reason === 'PodInitializing' || reason === 'ContainerCreating'
    ? null
    : { kind: 'waiting', reason: `${reason}: ${message}` }
}

/** Why a pod has not started, in the cluster's words; null: it does not say. */
export function whyWaiting({ status }: V1Pod): string | null {
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  const [waiting] = containers.flatMap((one) => readWaiting(one) ?? [])
  return waiting?.reason ?? unscheduled(status) ?? null
}

const unscheduled = (status: V1Pod['status']): string | undefined =>
  status?.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False')?.message

/** Why a pod failed before its main container ran. */
export function whyFailed({ status }: V1Pod): string {
  const [init] = (status?.initContainerStatuses ?? []).flatMap(({ name, state }) =>
    state?.terminated !== undefined && state.terminated.exitCode !== 0
      ? `The container ${name} ended with ${state.terminated.exitCode}. ${state.terminated.message ?? ''}`
      : [],
  )
  return [status?.reason, status?.message, init].filter(Boolean).join(': ') || 'The pod failed.'
}

/** A pod that was evicted, or whose node died, counts as killed. */
export function exitStatusOf({ status }: V1Pod): number | null {
  const job = status?.containerStatuses?.find(({ name }) => name === jobContainer)
  const ended = job?.state?.terminated
  if (ended !== undefined) return ended.exitCode
  if (status?.phase === 'Succeeded') return 0
  return status?.phase === 'Failed' ? 137 : null
}

const refused = (reason: string): Waiting => ({ kind: 'refused', reason })

/** Registries' messages for an image that does not exist or that we may not pull. */
export const missingImage =
  /not found|manifest unknown|does not exist|access denied|authorization|unauthorized|forbidden|name unknown/i
