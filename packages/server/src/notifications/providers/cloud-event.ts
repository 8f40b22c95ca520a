// Events of the cloud bus, with the names and shapes that rules of existing buses match.
import type { AuditEventShown, Message, Shown } from '../messages/message.ts'
import type { AuditEventName, EventName } from '../names.ts'

export const detailTypes: Readonly<Record<EventName | AuditEventName, string>> = {
  ping: 'Ping',
  'build.scheduled': 'Build Created',
  'build.running': 'Build Started',
  'build.failing': 'Build Failing',
  'build.finished': 'Build Finished',
  'build.skipped': 'Build Skipped',
  'job.scheduled': 'Job Scheduled',
  'job.started': 'Job Started',
  'job.finished': 'Job Finished',
  'job.activated': 'Job Activated',
  'job.promised_exit_status': 'Job Promised Exit Status',
  'agent.connected': 'Agent Connected',
  'agent.lost': 'Agent Lost',
  'agent.disconnected': 'Agent Disconnected',
  'agent.stopping': 'Agent Stopping',
  'agent.stopped': 'Agent Stopped',
  'agent.blocked': 'Agent Blocked',
  'cluster_token.registration_blocked': 'Cluster Token Registration Blocked',
  'test.flaky': 'Test Became Flaky',
  'test.muted': 'Test Muted',
  'test.skipped': 'Test Skipped',
  'test.enabled': 'Test Enabled',
  'test.quarantine_expired': 'Test Quarantine Expired',
  'budget.reached': 'Budget Reached',
  'audit.logged': 'Audit Event Logged',
}

/** `deliveryId` is the same for every attempt, so that receivers can recognize duplicates. */
export function detailOf(message: Message, deliveryId: string, withMetaData: boolean): Shown {
  const {
    build,
    job,
    agent,
    pipeline,
    organization,
    cluster_token: token,
    test,
    suite,
    budget,
    audit_event,
    more,
  } = message
  return {
    version: 1,
    delivery_id: deliveryId,
    ...more,
    ...(build && { build: buildDetail(build, withMetaData) }),
    ...(job && { job: jobDetail(job) }),
    ...(job?.['agent'] ? { agent: { uuid: (job['agent'] as Shown)['id'] } } : {}),
    ...(agent && { agent: agentDetail(agent) }),
    ...(token && {
      token: { uuid: token['id'], created_at: token['created_at'], description: token['description'] },
    }),
    ...(test && { test: testDetail(test) }),
    ...(suite && { suite: { uuid: suite['id'], ...pick(suite, ['slug', 'name']) } }),
    ...(budget && { budget: { uuid: budget['id'], ...pick(budget, budgetFields) } }),
    ...(audit_event && { event: auditDetail(audit_event), actor: audit_event.actor }),
    ...(pipeline && {
      pipeline: {
        uuid: pipeline['id'],
        graphql_id: pipeline['graphql_id'],
        slug: pipeline['slug'],
        repo: pipeline['repository'],
      },
    }),
    organization: {
      uuid: organization['id'],
      graphql_id: organization['graphql_id'],
      slug: organization['slug'],
    },
  }
}

/** Some states differ from the REST API: a running build is `started`, a blocked one `blocked`. */
function buildDetail(build: Shown, withMetaData: boolean): Shown {
  const state =
    build['blocked'] === true ? 'blocked' : build['state'] === 'running' ? 'started' : build['state']
  return {
    uuid: build['id'],
    ...pick(build, ['graphql_id', 'number', 'commit', 'message', 'branch']),
    state,
    blocked_state: build['blocked_state'] || null,
    ...pick(build, ['source', 'started_at', 'failing_at', 'finished_at']),
    ...(withMetaData ? pick(build, ['meta_data']) : {}),
  }
}

function jobDetail(job: Shown): Shown {
  const hasEnded = job['state'] === 'passed' || job['state'] === 'failed'
  return {
    uuid: job['id'],
    ...pick(job, ['graphql_id', 'type']),
    label: job['name'] ?? null,
    ...pick(job, ['step_key', 'command', 'agent_query_rules', 'exit_status', 'signal_reason']),
    passed: job['state'] === 'passed',
    soft_failed: job['soft_failed'],
    state: hasEnded ? 'finished' : job['state'] === 'running' ? 'started' : job['state'],
    ...pick(job, ['broken_reason', 'runnable_at', 'started_at', 'finished_at']),
    ...pick(job, ['unblocked_by', 'retried_in_job_id', 'promised_exit_status']),
  }
}

/** The context is JSON in a text, because its fields differ. */
const auditDetail = ({ id, type, occurred_at, subject, context, data }: AuditEventShown): Shown => ({
  uuid: id,
  occurred_at,
  type,
  data,
  subject_type: subject.type,
  subject_uuid: subject.uuid,
  subject_name: subject.name,
  context: JSON.stringify(context),
})

const budgetFields = ['month', 'share', 'amount', 'spent', 'currency', 'pipeline', 'team']

const testDetail = (test: Shown): Shown => ({
  uuid: test['id'],
  ...pick(test, ['scope', 'name', 'location', 'file_name', 'owner', 'labels', 'state', 'quarantine']),
})

const agentDetail = (agent: Shown): Shown => ({
  uuid: agent['id'],
  ...pick(agent, ['graphql_id', 'connection_state', 'name', 'version', 'ip_address', 'hostname', 'pid']),
  ...pick(agent, ['priority', 'meta_data']),
  ...pick(agent, ['connected_at', 'disconnected_at', 'lost_at']),
})

const pick = (object: Shown, names: readonly string[]): Shown =>
  Object.fromEntries(names.map((name) => [name, object[name] ?? null]))
