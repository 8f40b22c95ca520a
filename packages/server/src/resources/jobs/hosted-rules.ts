// Why a job of a hosted queue has no agent yet.
import { splitPair } from '@millrace/engine/agents.ts'
import type { InstanceShape } from '../queues/rules.ts'
import { listed } from './rules.ts'
import type { WaitingCode } from './schema.ts'

export interface HostedFacts {
  queueKey: string
  shape: InstanceShape
  rules: readonly string[]
  hasEngine: boolean
  /** What has been done about an agent; undefined: nothing. */
  agent: { last_error: string | null } | undefined
  readyImages: readonly string[]
}

/** What the agents of every hosted queue are, besides their queue and image. */
const ownKeys = new Set(['queue', 'image', 'os', 'arch', 'shape', 'hosted'])

export function judgeHosted({ queueKey, shape, rules, hasEngine, agent, readyImages }: HostedFacts): {
  code: WaitingCode
  reason: string
} {
  if (!hasEngine) {
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
  const unmet = rules.filter((rule) => !ownKeys.has(splitPair(rule)[0]))
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
  if (shape.machine_type !== 'linux') {
    return {
      code: 'no_agent',
      reason: `This installation starts Linux containers, and the queue "${queueKey}" asks for ${shape.name}.`,
    }
  }
  return {
    code: 'hosted_room',
    reason: `The job waits for room: an agent of the queue "${queueKey}" takes ${shape.cpu} vCPUs (${shape.name}).`,
  }
}
