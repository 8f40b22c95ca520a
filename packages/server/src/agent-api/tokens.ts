// Finds the owner of a token: a cluster that agents register in, an agent, or a job. Every request queries the database,
// so that an end takes effect at once on every replica.
import { sql } from 'kysely'
import { isFinal, type JobState } from '@millrace/engine/states.ts'
import { isCodeFor, readJobToken } from '../conductor/job-token.ts'
import { hadStream, type JobSigns } from '../conductor/lost-agents.ts'
import type { Context } from '../context.ts'
import { prepared } from '../db/statement.ts'
import { publishBlocked } from '../events/agents.ts'
import { findHostedRegistration, type HostedRegistration } from '../hosted-agents/register.ts'
import { forbidden, unauthorized } from '../lib/errors.ts'
import { hashToken } from '../lib/ids.ts'
import { isInRanges } from '../lib/ip-ranges.ts'

export interface Registration {
  tokenId: string
  description: string
  organization: { id: string; slug: string }
  cluster: { id: string; name: string }
  /** For agents that name no queue. */
  defaultQueue: { id: string; key: string } | null
}

/** An agent between its registration and its end, and the job it has. */
export interface Agent {
  id: string
  name: string
  organizationId: string
  clusterId: string
  queueId: string | null
  isQueueFair: boolean
  tags: string[]
  priority: number | null
  connectionState: 'never_connected' | 'connected' | 'stopping' | 'disconnected' | 'stopped' | 'lost'
  pausedAt: string | null
  pausedNote: string | null
  ignoreInDispatches: boolean
  lastJobPassedAt: string | null
  /** Started for one job: it takes no other. */
  isHosted: boolean
  job: AgentJob | null
  /** The token it registered with; null: deleted since, or the agent is hosted. */
  clusterToken: { id: string; allowedIpAddresses: string; expiresAt: string | null } | null
}

/** The job that an agent was offered or has taken. */
export interface AgentJob extends JobSigns {
  id: string
  buildId: string
  state: JobState
}

/** A job that an agent has accepted. */
export interface RunningJob {
  id: string
  state: JobState
  stepId: string
  buildId: string
  pipelineId: string
  organizationId: string
  organizationSlug: string
  clusterId: string | null
  queueId: string | null
  agent: {
    id: string
    name: string
    connectionState: Agent['connectionState']
    ipAddress: string | null
  }
}

/** The kinds of agents that register. */
export type Joining =
  | { kind: 'own'; registration: Registration }
  /** Started by this installation. */
  | { kind: 'hosted'; hosted: HostedRegistration }

export async function findJoining(ctx: Context, token: string, ip: string): Promise<Joining> {
  return token.startsWith('mrht_')
    ? { kind: 'hosted', hosted: await findHostedRegistration(ctx, token) }
    : { kind: 'own', registration: await findRegistration(ctx, token, ip) }
}

export async function findRegistration(ctx: Context, token: string, ip: string): Promise<Registration> {
  const { rows } = await sql<Registration & { isExpired: boolean; allowedIpAddresses: string }>`
    select t.id as "tokenId", t.description, json_build_object('id', o.id, 'slug', o.slug) as organization,
      json_build_object('id', c.id, 'name', c.name) as cluster,
      case when q.id is not null then json_build_object('id', q.id, 'key', q.key) end as "defaultQueue",
      coalesce(t.expires_at <= ${ctx.now().toISOString()}, false) as "isExpired",
      t.allowed_ip_addresses as "allowedIpAddresses"
    from cluster_tokens t join organizations o on o.id = t.organization_id join clusters c on c.id = t.cluster_id
    left join cluster_queues q on q.id = c.default_queue_id
    where t.token_hash = ${hashToken(token)}`.execute(ctx.db)
  const [found] = rows
  if (found === undefined) throw unauthorized('The agent token is not known: it was revoked, or mistyped.')
  const { isExpired, allowedIpAddresses, ...registration } = found
  if (isExpired) throw unauthorized('The agent token has expired.')
  if (!isInRanges(ip, allowedIpAddresses)) {
    const { organization, cluster, tokenId } = registration
    const blocked = {
      organizationId: organization.id,
      clusterId: cluster.id,
      clusterTokenId: tokenId,
      agentId: null,
      ip,
    }
    await publishBlocked(ctx.db, blocked, ctx.now().toISOString())
    throw forbidden(`The agent token may not be used from ${ip}.`)
  }
  return registration
}

const agentColumns = sql`
  a.id, a.name, a.organization_id as "organizationId", a.cluster_id as "clusterId", a.queue_id as "queueId", a.tags,
  a.priority, a.connection_state as "connectionState", a.paused_at as "pausedAt", a.paused_note as "pausedNote",
  a.ignore_in_dispatches as "ignoreInDispatches", a.last_job_passed_at as "lastJobPassedAt",
  a.is_hosted as "isHosted",
  exists (select from cluster_queues q where q.id = a.queue_id and q.fair_by <> 'none') as "isQueueFair",
  case when j.id is not null then json_build_object('id', j.id, 'buildId', j.build_id, 'state', j.state,
    'startedAt', j.started_at, 'hadStream', ${hadStream},
    'heardAt', case when a.job_heard_at >= j.started_at then a.job_heard_at end) end as job,
  (select json_build_object('id', t.id, 'allowedIpAddresses', t.allowed_ip_addresses,
      'expiresAt', t.expires_at)
    from cluster_tokens t where t.id = a.cluster_token_id) as "clusterToken"`

const jobOfAgent = sql`
  left join jobs j on j.agent_id = a.id
    and j.state in ('assigned', 'accepted', 'running', 'timing_out', 'canceling')`

const isOver = (state: Agent['connectionState']) =>
  state === 'disconnected' || state === 'stopped' || state === 'lost'

export async function findSession(ctx: Context, token: string, ip: string): Promise<Agent> {
  const agent = await findEndedSession(ctx, token)
  // The ranges come first: narrowing them ends sessions, and their agents must get the reason.
  if (agent.clusterToken !== null && !isInRanges(ip, agent.clusterToken.allowedIpAddresses)) {
    const { organizationId, clusterId, id: agentId, clusterToken } = agent
    const blocked = { organizationId, clusterId, clusterTokenId: clusterToken.id, agentId, ip }
    await publishBlocked(ctx.db, blocked, ctx.now().toISOString())
    throw forbidden(`The agent token may not be used from ${ip}.`)
  }
  if (isOver(agent.connectionState)) {
    throw unauthorized(`The agent's session is over: it is ${agent.connectionState}.`)
  }
  // Its token may have been revoked or have expired since it registered.
  if (agent.clusterToken === null && !agent.isHosted) {
    throw unauthorized('The token that the agent registered with was revoked.')
  }
  // A job that it has may end normally.
  const expiresAt = agent.clusterToken?.expiresAt ?? null
  if (agent.job === null && expiresAt !== null && new Date(expiresAt) <= ctx.now()) {
    throw unauthorized('The token that the agent registered with has expired.')
  }
  return agent
}

/** Also when the session is over. */
export async function findEndedSession(ctx: Context, token: string): Promise<Agent> {
  const { rows } = await agentBySession(hashToken(token)).execute(ctx.db)
  const [agent] = rows
  if (agent === undefined) throw unauthorized('The session token is not known.')
  return withUnwritten(ctx, agent)
}

const agentBySession = prepared(
  (sessionHash: Buffer) => sql<Agent>`
    select ${agentColumns} from agents a ${jobOfAgent} where a.session_hash = ${sessionHash}`,
)

/** The agent as it is now. */
export async function getAgent(ctx: Context, organizationId: string, id: string): Promise<Agent> {
  const { rows } = await agentById(organizationId, id).execute(ctx.db)
  const [agent] = rows
  if (agent === undefined) throw new Error('An agent vanished while it spoke.')
  return withUnwritten(ctx, agent)
}

/** With the last request of the agent's job that this process has heard. Earlier requests were of another job. */
function withUnwritten(ctx: Context, agent: Agent): Agent {
  const { job } = agent
  const heardAt = ctx.agentActivity.lastJobRequest(agent.id)
  if (job === null || job.startedAt === null || heardAt === null) return agent
  const since = new Date(job.heardAt ?? job.startedAt)
  return heardAt < since ? agent : { ...agent, job: { ...job, heardAt: heardAt.toISOString() } }
}

const agentById = prepared(
  (organizationId: string, id: string) => sql<Agent>`
    select ${agentColumns} from agents a ${jobOfAgent}
    where a.organization_id = ${organizationId} and a.id = ${id}`,
)

export async function findRunningJob(ctx: Context, token: string): Promise<RunningJob> {
  const job = await findEndedJob(ctx, token)
  if (isFinal(job.state)) throw unauthorized('The job has ended, and its token with it.')
  return job
}

/** Also when the job has ended. */
export async function findEndedJob(ctx: Context, token: string): Promise<RunningJob> {
  const parts = readJobToken(token)
  const found = parts === null ? null : await jobOnAgent(parts.jobId).execute(ctx.db)
  const job = found?.rows[0]
  if (parts === null || job === undefined || !isCodeFor(ctx, parts.code, job.agent.id, job.id))
    throw unauthorized('The job token is not known.')
  return job
}

const jobOnAgent = prepared(
  (jobId: string) => sql<RunningJob>`
    select j.id, j.state, j.step_id as "stepId", j.build_id as "buildId", j.pipeline_id as "pipelineId",
      j.organization_id as "organizationId", o.slug as "organizationSlug", j.cluster_id as "clusterId",
      j.queue_id as "queueId", json_build_object('id', a.id, 'name', a.name,
        'connectionState', a.connection_state, 'ipAddress', a.ip_address) as agent
    from jobs j join organizations o on o.id = j.organization_id join agents a on a.id = j.agent_id
    where j.id = ${jobId}`,
)
