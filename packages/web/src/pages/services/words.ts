// Words for what services are told of.
import type { Service } from './queries.ts'

export const deliveryStates = {
  pending: 'Pending',
  delivered: 'Delivered',
  dead: 'Given up',
  discarded: 'Discarded',
} as const

export type DeliveryState = keyof typeof deliveryStates

export const isDeliveryState = (value: unknown): value is DeliveryState =>
  typeof value === 'string' && Object.hasOwn(deliveryStates, value)

type BuildState = keyof Service['build_states']

export const buildStates: Readonly<Record<BuildState, string>> = {
  build_failed: 'It failed',
  build_fixed: 'It passed, and the one before had failed',
  build_passed: 'It passed',
  build_blocked: 'It waits for somebody to unblock it',
  build_failing: 'It is bound to fail',
  build_canceled: 'It was canceled',
  job_activated: 'Somebody unblocked a step',
}

export const scopes: Readonly<Record<Service['scope'], string>> = {
  all: 'All pipelines',
  some_projects: 'Some pipelines',
  some_teams: 'Pipelines of some teams',
  some_clusters: 'Pipelines of some clusters',
}

/** `token_mode` and the like, as a form shows them: the first letter is large. */
export const choiceWord = (value: string): string => value.slice(0, 1).toUpperCase() + value.slice(1)

/** Disabled by a person, stopped by the server, or neither. */
export const serviceState = ({ enabled, broken_at: brokenAt }: Pick<Service, 'enabled' | 'broken_at'>) =>
  enabled ? 'enabled' : brokenAt === null ? 'disabled' : 'broken'
