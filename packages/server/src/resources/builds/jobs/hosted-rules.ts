// Why a job of a hosted queue has no agent yet.
import { matchesAgent } from '@millrace/engine/agents.ts'
import { hostedTags, type InstanceShape } from '../../clusters/queues/rules.ts'
import { listed } from '../../job/waiting-reason.ts'
import type { WaitingCode } from './schema.ts'

export interface HostedFacts {
  queueKey: string
  shape: InstanceShape
  rules: readonly string[]
  /** null: none is configured. */
  engine: { architecture: string; mostCpus: number } | null
  /** The hosted agent for the job; undefined: none was planned yet. */
  agent: { last_error: string | null } | undefined
  readyImages: readonly string[]
}

export function judgeHosted({ queueKey, shape, rules, engine, agent, readyImages }: HostedFacts): {
  code: WaitingCode
  reason: string
} {
  if (engine === null) {
    return {
      code: 'no_agent',
      reason: 'This installation runs no hosted agents: MILLRACE_HOSTED is not set.',
    }
  }
  if (agent?.last_error) {
    return {
      code: 'hosted_agent_failed',
      reason: `An agent could not be started, and it is tried again: ${agent.last_error}`,
    }
  }
  if (agent !== undefined) {
    return { code: 'hosted_agent_starting', reason: `An agent is being started for the queue "${queueKey}".` }
  }
  const asked = rules.filter((rule) => !/^(queue|image)(=|$)/.test(rule))
  const unmet = asked.filter((rule) => !matchesAgent([rule], hostedTags(shape)))
  if (unmet.length > 0) {
    return {
      code: 'no_agent',
      reason: `The agents of the hosted queue "${queueKey}" do not have ${listed(unmet)}.`,
    }
  }
  const image = rules.find((rule) => rule.startsWith('image='))?.slice('image='.length)
  if (image !== undefined && image !== '*' && !readyImages.includes(image)) {
    return { code: 'no_agent', reason: `The cluster has no agent image "${image}" that is ready.` }
  }
  const unable = whyNever(shape, engine)
  if (unable !== null) {
    return { code: 'no_agent', reason: `The queue "${queueKey}" asks for ${shape.name}, and ${unable}.` }
  }
  return {
    code: 'hosted_room',
    reason: `The job waits for room: an agent of the queue "${queueKey}" takes ${shape.cpu} vCPUs (${shape.name}).`,
  }
}

/** null: it can start once there is room. */
function whyNever(
  { machine_type, architecture, cpu }: InstanceShape,
  engine: NonNullable<HostedFacts['engine']>,
): string | null {
  if (machine_type !== 'linux') return 'this installation starts Linux containers only'
  if (architecture !== engine.architecture) {
    return `this installation starts containers for ${engine.architecture} only`
  }
  if (cpu > engine.mostCpus) {
    return `all containers of this installation together may have ${engine.mostCpus} vCPUs (MILLRACE_HOSTED_CPUS)`
  }
  return null
}
