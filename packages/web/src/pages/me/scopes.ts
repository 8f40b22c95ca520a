// The scopes of access tokens by noun. A scope that the API gains or loses does not compile until it is listed here.
import type { Schemas } from '../../api/operations.ts'

export type Scope = Schemas['CreateUserAccessToken']['scopes'][number]

const nouns: Record<Scope, string> = {
  read_agents: 'Agents',
  write_agents: 'Agents',
  read_artifacts: 'Artifacts',
  write_artifacts: 'Artifacts',
  read_audit_events: 'Audit log',
  read_builds: 'Builds',
  write_builds: 'Builds',
  read_build_logs: 'Logs',
  write_build_logs: 'Logs',
  read_clusters: 'Clusters',
  write_clusters: 'Clusters',
  read_job_env: 'Environment of jobs',
  read_notification_services: 'Notification services',
  write_notification_services: 'Notification services',
  read_organizations: 'Organizations and members',
  write_organizations: 'Organizations and members',
  read_organization_invitations: 'Invitations',
  write_organization_invitations: 'Invitations',
  read_organization_repository_connections: 'Repository connections',
  write_organization_repository_connections: 'Repository connections',
  read_organization_settings: 'Settings of the organization',
  write_organization_settings: 'Settings of the organization',
  read_pipelines: 'Pipelines',
  write_pipelines: 'Pipelines',
  read_pipeline_templates: 'Pipeline templates',
  write_pipeline_templates: 'Pipeline templates',
  read_rules: 'Rules',
  write_rules: 'Rules',
  read_secrets_details: 'Secrets',
  write_secrets: 'Secrets',
  read_suites: 'Test suites',
  write_suites: 'Test suites',
  read_teams: 'Teams',
  write_teams: 'Teams',
  read_user: 'Your own account',
  write_user: 'Your own account',
}

export const allScopes = Object.keys(nouns) as Scope[]

export const isRead = (scope: string) => scope.startsWith('read_')

export const readScopes = allScopes.filter(isRead)

type AccountScope = Exclude<Scope, 'write_user'>

/** A service account has no settings of its own to change. */
export const accountScopes = allScopes.filter((scope): scope is AccountScope => scope !== 'write_user')

/** What the commands of `millrace` need that use a server. */
export const commandScopes: readonly Scope[] = [
  ...readScopes,
  'write_agents',
  'write_artifacts',
  'write_build_logs',
  'write_builds',
  'write_clusters',
  'write_pipelines',
  'write_secrets',
]

interface ScopeGroup<Offered> {
  noun: string
  scopes: Array<{ scope: Offered; verb: 'read' | 'write' }>
}

/** By noun, in the order of the alphabet. */
export const groupScopes = <Offered extends Scope>(offered: readonly Offered[]): Array<ScopeGroup<Offered>> =>
  [...new Set(offered.map((scope) => nouns[scope]))].toSorted().map((noun) => ({
    noun,
    scopes: offered
      .filter((scope) => nouns[scope] === noun)
      .map((scope) => ({ scope, verb: isRead(scope) ? 'read' : 'write' })),
  }))

/** `all` is what such a token can have. `Everything`, `Read only`, or what it is for: `Builds, Pipelines and 3 more`. */
export function describeScopes(scopes: readonly string[], all: readonly Scope[] = allScopes): string {
  const has = (wanted: readonly Scope[]) => wanted.every((scope) => scopes.includes(scope))
  if (has(all)) return 'Everything'
  if (has(readScopes) && scopes.every(isRead)) return 'Read only'
  const named = groupScopes(allScopes).filter((group) =>
    group.scopes.some(({ scope }) => scopes.includes(scope)),
  )
  const names = named.map(({ noun }) => noun)
  return names.length <= 3 ? names.join(', ') : `${names.slice(0, 2).join(', ')} and ${names.length - 2} more`
}
