// Pure decisions about hosted agents: which image a job runs in, and who gets what there is room for.
import { matchesAgent } from '@millrace/engine/agents.ts'
import { isImageName } from '../image-name.ts'

export interface JobWish {
  /** What the step or the pipeline asks for. */
  image: string | null
  /** `key=value`; `image=` names an agent image of the cluster. */
  rules: readonly string[]
  /** What the queue runs by default. */
  queueImage: string | null
}

export interface ImagesOfCluster {
  /** Those that can be run, by name. */
  ready: ReadonlyMap<string, string>
  /** The names of those that are being built. */
  building: ReadonlySet<string>
  /** What the names of built images begin with. */
  registry: string
  baseImage: string
}

export type ChosenImage =
  | { kind: 'run'; ref: string }
  /** It cannot run now, and may later. */
  | { kind: 'wait'; reason: string }
  /** It never can. */
  | { kind: 'refuse'; reason: string }

/** The step's own, the one its agent rules name, the queue's, the installation's. */
export function chooseImage({ image, rules, queueImage }: JobWish, images: ImagesOfCluster): ChosenImage {
  const name = rules.find((rule) => rule.startsWith('image='))?.slice('image='.length)
  const wished = image || null
  if (wished === null && name !== undefined && name !== '*' && name !== '') {
    const ref = images.ready.get(name)
    if (ref !== undefined) return { kind: 'run', ref }
    return images.building.has(name)
      ? { kind: 'wait', reason: `The agent image "${name}" is being built.` }
      : { kind: 'refuse', reason: `The cluster has no agent image "${name}", or its build has failed.` }
  }
  const ref = wished ?? queueImage ?? images.baseImage
  const isOurs = ref.startsWith(`${images.registry}/`)
  // Images that were built here belong to their cluster: others must not run what is in them.
  if (isOurs && ref !== images.baseImage && ![...images.ready.values()].includes(ref)) {
    const reason = `The image ${ref} is not an agent image of this cluster that is ready.`
    return { kind: wished === null ? 'wait' : 'refuse', reason }
  }
  return isImageName(ref)
    ? { kind: 'run', ref }
    : { kind: 'refuse', reason: `"${ref}" is not the name of an image.` }
}

/** Whether the agents of a queue are what the rules ask for, beside queue and image. */
export function isServed(rules: readonly string[], tags: readonly string[]): boolean {
  return matchesAgent(
    rules.filter((rule) => !/^(queue|image)(=|$)/.test(rule)),
    tags,
  )
}

/** How long to wait before the next attempt. */
export const retrySeconds = (attempts: number): number => Math.min(30, 2 ** Math.min(attempts, 5))

export const cacheTag = (pipelineId: string, name: string): string => `${pipelineId}/${name}`

/** Names of caches have no semicolon, so no step can ask for this one. */
export const containerCacheTag = (pipelineId: string): string => `${pipelineId}/container-cache;layers`

/** Requested for a container cache. */
export const containerCacheMb = 50 * 1024
