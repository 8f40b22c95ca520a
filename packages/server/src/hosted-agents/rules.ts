import { matchesAgent } from '@millrace/engine/agents.ts'
import { hostedTags, isRunnable, limitsOf, readShape } from '../resources/clusters/queues/rules.ts'
import type { Limits } from '../hosted/driver.ts'
import { isImageName } from '../hosted/image-name.ts'

interface ImageRequest {
  /** From the step or the pipeline. */
  image: string | null
  /** `key=value`; `image=` names an agent image of the cluster. */
  rules: readonly string[]
  queueImage: string | null
}

export interface ImagesOfCluster {
  /** References of the images that can be run, by name. */
  ready: ReadonlyMap<string, string>
  building: ReadonlySet<string>
  /** The prefix of the references of built images. */
  registry: string
  baseImage: string
}

type ChosenImage =
  | { kind: 'run'; ref: string }
  /** The job cannot run yet. */
  | { kind: 'wait'; reason: string }
  /** The job can never run. */
  | { kind: 'refuse'; reason: string }

/** In this order: the step's image, the one its agent rules name, the queue's, the installation's. */
export function chooseImage(
  { image, rules, queueImage }: ImageRequest,
  images: ImagesOfCluster,
): ChosenImage {
  const name = rules.find((rule) => rule.startsWith('image='))?.slice('image='.length)
  const requested = image || null
  if (requested === null && name !== undefined && name !== '*' && name !== '') {
    const ref = images.ready.get(name)
    if (ref !== undefined) return { kind: 'run', ref }
    return images.building.has(name)
      ? { kind: 'wait', reason: `The agent image "${name}" is being built.` }
      : { kind: 'refuse', reason: `The cluster has no agent image "${name}", or its build has failed.` }
  }
  const ref = requested ?? queueImage ?? images.baseImage
  const isOurs = ref.startsWith(`${images.registry}/`)
  // An agent image belongs to its cluster, and other clusters must not run it.
  if (isOurs && ref !== images.baseImage && ![...images.ready.values()].includes(ref)) {
    const reason = `The image ${ref} is not an agent image of this cluster that is ready.`
    return { kind: requested === null ? 'wait' : 'refuse', reason }
  }
  return isImageName(ref)
    ? { kind: 'run', ref }
    : { kind: 'refuse', reason: `"${ref}" is not the name of an image.` }
}

export function matchesHosted(rules: readonly string[], tags: readonly string[]): boolean {
  return matchesAgent(
    rules.filter((rule) => !/^(queue|image)(=|$)/.test(rule)),
    tags,
  )
}

export const retrySeconds = (attempts: number): number => Math.min(30, 2 ** Math.min(attempts, 5))

export const cacheTag = (pipelineId: string, name: string): string => `${pipelineId}/${name}`

/** A step cannot name this cache, because names of caches have no semicolon. */
export const containerCacheTag = (pipelineId: string): string => `${pipelineId}/container-cache;layers`

export const containerCacheMb = 50 * 1024

interface RunnableShape {
  cpus: number
  limits: Limits
  tags: string[]
}

/** null: this installation cannot start such a machine. */
export function readRunnableShape(name: string): RunnableShape | null {
  const shape = readShape(name)
  if (!isRunnable(shape)) return null
  return { cpus: shape.cpu, limits: limitsOf(shape), tags: hostedTags(shape) }
}
