// How far a pod has come, from what Kubernetes says about it.
import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node'
import { jobContainer } from './pod-spec.ts'

export type Progress =
  | { kind: 'started' }
  /** It may still come. */
  | { kind: 'waiting'; reason: string }
  /** It will never start: what it was asked to do cannot be done, or its image is not there. */
  | { kind: 'refused' | 'missing'; reason: string }
  /** Another one like it may fare better. */
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
  // The runner is ours: nobody's order is wrong because it cannot be had.
  if (runner !== undefined) return { ...runner, kind: 'waiting' }
  const waiting = job === undefined ? null : readWaiting(job)
  if (waiting !== null) return waiting
  const unscheduled = status?.conditions?.find(
    (condition) => condition.type === 'PodScheduled' && condition.status === 'False',
  )
  return { kind: 'waiting', reason: unscheduled?.message ?? 'The pod has not started yet.' }
}

type Waiting = Exclude<Progress, { kind: 'started' }>

function readWaiting({ state, image }: V1ContainerStatus): Waiting | null {
  const { reason = '', message = '' } = state?.waiting ?? {}
  if (reason === 'InvalidImageName') return refused(message)
  if (badCommand.test(message)) return refused(message)
  if (['ErrImagePull', 'ImagePullBackOff', 'ErrImageNeverPull'].includes(reason)) {
    return notThere.test(message)
      ? { kind: 'missing', reason: `There is no image ${image} that the cluster may pull: ${message}` }
      : { kind: 'waiting', reason: message }
  }
  return reason === '' || reason === 'PodInitializing' || reason === 'ContainerCreating'
    ? null
    : { kind: 'waiting', reason: `${reason}: ${message}` }
}

/** Why a pod ended without its container having been asked. */
export function whyFailed({ status }: V1Pod): string {
  const [init] = (status?.initContainerStatuses ?? []).flatMap(({ name, state }) =>
    state?.terminated !== undefined && state.terminated.exitCode !== 0
      ? `The container ${name} ended with ${state.terminated.exitCode}. ${state.terminated.message ?? ''}`
      : [],
  )
  return [status?.reason, status?.message, init].filter(Boolean).join(': ') || 'The pod failed.'
}

/** What was killed with its node, or thrown out, ends like anything that is killed. */
export function exitStatusOf({ status }: V1Pod): number | null {
  const job = status?.containerStatuses?.find(({ name }) => name === jobContainer)
  const ended = job?.state?.terminated
  if (ended !== undefined) return ended.exitCode
  if (status?.phase === 'Succeeded') return 0
  return status?.phase === 'Failed' ? 137 : null
}

const refused = (reason: string): Waiting => ({ kind: 'refused', reason })

const badCommand =
  /executable file .* not found|executable file not found|exec: .*: (no such file|permission denied)/i

/** What registries answer for an image that is not there, or that is not for us. */
export const notThere =
  /not found|manifest unknown|does not exist|access denied|authorization|unauthorized|forbidden|name unknown/i
