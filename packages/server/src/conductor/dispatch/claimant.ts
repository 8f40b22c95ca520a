// Agents that wait for jobs, as claims see them.
import { splitPair } from '@millrace/engine/agents.ts'
import type { Assigned } from './assign.ts'

export interface Claimant {
  agentId: string
  ability: Ability
}

/** All rules that an agent satisfies, and the same as text, so that equal agents count once. */
export interface Ability {
  rules: ReadonlySet<string>
  json: string
}

/** `tags` are `key=value`, with the agent's queue. The rules agree with engine/agents.ts. */
export function abilityOf(tags: readonly string[]): Ability {
  const rules = new Set(
    tags.flatMap((tag) => {
      const [key] = splitPair(tag)
      return [tag, key, `${key}=`, `${key}=*`]
    }),
  )
  return { rules, json: JSON.stringify([...rules].sort()) }
}

export interface Claims {
  assigned: Assigned[]
  /** Agents that may take no job any more: paused, stopping, gone, or busy already. */
  unfit: string[]
}

export interface Queue {
  organizationId: string
  queueId: string
  /** As far as this process knows. A claim that is wrong about it finds nothing. */
  isFair?: boolean
}

export const abilitiesOf = (abilities: readonly Ability[]) => {
  const different = new Set(abilities.map(({ json }) => json))
  return `[${[...different].join(',')}]`
}
