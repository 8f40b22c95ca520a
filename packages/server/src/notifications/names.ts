// Names of providers, events, build states and scopes.

export const providerIds = [
  'webhook',
  'chat',
  'cloud_event_bus',
  'monitoring_pipeline_visibility',
  'open_telemetry_tracing',
  'event_log_api',
  'chat_workspace',
  'issue_tracker',
] as const

export type ProviderId = (typeof providerIds)[number]

export const isProviderId = (text: string): text is ProviderId => providerIds.some((id) => id === text)

export const eventNames = [
  'ping',
  'build.scheduled',
  'build.running',
  'build.failing',
  'build.finished',
  'build.skipped',
  'job.scheduled',
  'job.started',
  'job.finished',
  'job.activated',
  'job.promised_exit_status',
  'agent.connected',
  'agent.lost',
  'agent.disconnected',
  'agent.stopping',
  'agent.stopped',
  'agent.blocked',
  'cluster_token.registration_blocked',
  'test.flaky',
  'test.muted',
  'test.skipped',
  'test.enabled',
  'test.quarantine_expired',
  'budget.reached',
] as const

export type EventName = (typeof eventNames)[number]

export const isEventName = (text: string): text is EventName => eventNames.some((name) => name === text)

/** Only event buses that ask for it get this. */
const auditEventName = 'audit.logged'

export type AuditEventName = typeof auditEventName

export const isAuditEventName = (text: string): text is AuditEventName => text === auditEventName

/** Only `notify` of steps publishes these. */
export const stepEventNames = ['step.failing', 'step.finished'] as const

export type StepEventName = (typeof stepEventNames)[number]

export const isStepEventName = (text: string): text is StepEventName =>
  stepEventNames.some((name) => name === text)

export const buildStateNames = [
  'build_passed',
  'build_fixed',
  'build_failed',
  'build_blocked',
  'build_canceled',
  'build_failing',
  'job_activated',
] as const

export type BuildStateName = (typeof buildStateNames)[number]

const scopeNames = ['all', 'some_projects', 'some_teams', 'some_clusters'] as const

export type ScopeName = (typeof scopeNames)[number]
