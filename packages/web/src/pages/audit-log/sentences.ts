// An event in plain words: who did what to what.
import type { AuditEvent } from './queries.ts'

type Told = Pick<AuditEvent, 'type'> & {
  actor: Pick<NonNullable<AuditEvent['actor']>, 'name'> | null
  subject: Pick<AuditEvent['subject'], 'name'>
}

/** What is done to most things: the end of the type, and the verb. */
const verbs: Record<string, string> = {
  Created: 'created',
  Updated: 'changed',
  Deleted: 'deleted',
  Destroyed: 'deleted',
  Enabled: 'enabled',
  Disabled: 'disabled',
  Canceled: 'canceled',
  Retried: 'retried',
  Unblocked: 'unblocked',
  Rebuilt: 'rebuilt',
  Read: 'read',
}

/** Things that are not called as in the type. */
const nouns: Record<string, string> = {
  ApiAccessToken: 'the access token',
  ClusterQueue: 'the queue',
  ClusterToken: 'the agent token',
  GithubWorkflowToken: 'the token of a GitHub workflow',
  JobLog: 'the log of the job',
  OrganizationBanner: 'the banner',
  OrganizationBuildExport: 'the export of builds of',
  OrganizationInvitation: 'the invitation of',
  OrganizationRetention: 'the retention of',
  OrganizationSecuritySettings: 'the security settings of',
  PipelineRetention: 'the retention of the pipeline',
  PipelineSchedule: 'the schedule',
  PipelineTrigger: 'the trigger',
  ScmRepositoryHost: 'the repository connection',
  SsoProvider: 'the single sign-on',
}

/** `{}` is the name of what it was done to. */
const whole: Record<string, string> = {
  AgentImageCreated: 'made an agent image of the cluster {}',
  AgentImageDeleted: 'deleted an agent image of the cluster {}',
  CacheVolumeDeleted: 'deleted a cache volume of the cluster {}',
  CacheDeleted: 'deleted caches of the pipeline {}',
  ApiAccessTokenOrganizationAccessRevoked: 'revoked the access to the organization of the token {}',
  BuildFailedJobsRetried: 'retried the failed jobs of the build {}',
  ClusterPermissionCreated: 'made {} a maintainer of a cluster',
  ClusterPermissionDeleted: 'no longer lets {} maintain a cluster',
  JobReprioritized: 'changed the priority of the job {}',
  NotificationServiceBroken: 'stopped the notification service {}, because nothing got through',
  OrganizationInvitationAccepted: 'accepted the invitation of {}',
  OrganizationInvitationCreated: 'invited {}',
  OrganizationInvitationResent: 'sent the invitation of {} again',
  OrganizationInvitationRevoked: 'revoked the invitation of {}',
  OrganizationMemberCreated: 'added {} to the organization',
  OrganizationMemberDeleted: 'removed {} from the organization',
  OrganizationMemberUpdated: 'changed the role or rights of {}',
  OrganizationTeamsEnabled: 'turned on teams in {}',
  PipelineTriggerRotated: 'gave a new address to the trigger {}',
  PipelineVisibilityChanged: 'changed who may see the pipeline {}',
  SecretValueUpdated: 'changed the value of the secret {}',
  TeamMemberCreated: 'added {} to a team',
  TeamMemberDeleted: 'removed {} from a team',
  TeamMemberUpdated: 'changed the role of {} in a team',
  TeamPipelineCreated: 'gave a team access to the pipeline {}',
  TeamPipelineDeleted: 'took the access of a team to the pipeline {}',
  TeamPipelineUpdated: 'changed the access of a team to the pipeline {}',
  TestEnabled: 'enabled the test {}',
  TestLabelsUpdated: 'changed the labels of the test {}',
  TestMuted: 'muted the test {}',
  TestSkipped: 'skipped the test {}',
  TeamSuiteCreated: 'gave a team access to the test suite {}',
  TeamSuiteDeleted: 'took the access of a team to the test suite {}',
  TeamSuiteUpdated: 'changed the access of a team to the test suite {}',
}

export function eventSentence({ type, actor, subject }: Told): string {
  const what = type.replace(/Event$/, '')
  const words = (whole[what] ?? regular(what)).replace('{}', () => subject.name ?? '')
  return `${actor?.name ?? 'The operator'} ${words.trimEnd()}`
}

function regular(what: string): string {
  const [, noun = '', end = ''] = /^(.*)([A-Z][a-z]+)$/.exec(what) ?? []
  return `${verbs[end] ?? end.toLowerCase()} ${nouns[noun] ?? `the ${inWords(noun)}`} {}`
}

const inWords = (noun: string): string => noun.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
