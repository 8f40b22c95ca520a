// Which notification services get the events of a pipeline.
import type { Service } from './queries.ts'

interface Reach {
  pipeline: string
  cluster: string | null
  teams: readonly string[]
}

export function concerns(
  { scope, scope_uuids: ids }: Pick<Service, 'scope' | 'scope_uuids'>,
  of: Reach,
): boolean {
  switch (scope) {
    case 'all':
      return true
    case 'some_projects':
      return ids.includes(of.pipeline)
    case 'some_clusters':
      return of.cluster !== null && ids.includes(of.cluster)
    case 'some_teams':
      return of.teams.some((team) => ids.includes(team))
  }
}

const stateNames = {
  build_passed: 'passed',
  build_fixed: 'fixed',
  build_failed: 'failed',
  build_blocked: 'blocked',
  build_canceled: 'canceled',
  build_failing: 'failing',
  job_activated: 'unblocked',
} as const

/** "failed, fixed" */
export const describeStates = (states: Service['build_states']): string =>
  (Object.keys(stateNames) as Array<keyof typeof stateNames>)
    .filter((state) => states[state])
    .map((state) => stateNames[state])
    .join(', ')
