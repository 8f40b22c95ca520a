// Every scope a token may carry, including those that no endpoint needs yet: tokens outlive releases.

export const scopes = [
  'read_agents',
  'write_agents',
  'read_artifacts',
  'write_artifacts',
  'read_audit_events',
  'read_builds',
  'write_builds',
  'read_build_logs',
  'write_build_logs',
  'read_clusters',
  'write_clusters',
  'read_job_env',
  'read_notification_services',
  'write_notification_services',
  'read_organizations',
  'write_organizations',
  'read_organization_invitations',
  'write_organization_invitations',
  'read_organization_repository_connections',
  'write_organization_repository_connections',
  'read_organization_settings',
  'write_organization_settings',
  'read_pipelines',
  'write_pipelines',
  'read_pipeline_templates',
  'write_pipeline_templates',
  'read_rules',
  'write_rules',
  'read_secrets_details',
  'write_secrets',
  'read_suites',
  'write_suites',
  'read_teams',
  'write_teams',
  'read_user',
  'write_user',
] as const

export type Scope = (typeof scopes)[number]

/** Those of service accounts. With `write_user` a token could make others. */
export const serviceScopes = scopes.filter((scope) => scope !== 'write_user')

export const isScope = (text: string): text is Scope => scopes.some((scope) => scope === text)
