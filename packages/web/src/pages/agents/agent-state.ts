import type { StateDetail } from '../../parts/state-badge/states.ts'
import type { Agent } from './queries.ts'

type Facts = Pick<Agent, 'connection_state' | 'paused' | 'job' | 'name'>

/** The state as the pages show it: a connected agent is paused, busy or idle. */
export function stateOf({ connection_state: state, paused, job }: Facts): {
  state: string
  detail: StateDetail
} {
  if (state === 'connected' && paused) return { state: 'paused', detail: {} }
  return { state, detail: { busy: job !== null } }
}

const lostHours = 24

/** Lost so lately that somebody should look at its machine. Others are history. */
export const isLatelyLost = ({ lost_at: lost }: Pick<Agent, 'lost_at'>, nowMs: number): boolean =>
  lost !== null && nowMs - Date.parse(lost) < lostHours * 3_600_000

const rank = (agent: Facts) => {
  if (agent.connection_state === 'lost') return 0
  if (agent.connection_state !== 'connected' && agent.connection_state !== 'stopping') return 3
  return agent.job === null ? 2 : 1
}

/** Lost agents first, then busy ones, then idle ones, then those that went. */
export const orderAgents = <Each extends Facts>(agents: readonly Each[]): Each[] =>
  agents.toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name, undefined, { numeric: true }))
