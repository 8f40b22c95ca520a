// Agents that disconnect or fall silent, and the jobs they had; jobs that fall silent while their agents live; and paused
// agents whose time is over. Runs every few seconds on every worker. Where two workers find the same, one of them acts.
import { sql } from 'kysely'
import type { JobState } from '@millrace/engine/states.ts'
import type { Context } from '../context.ts'
import { publishMoved } from '../events/agents.ts'
import { act } from './act.ts'
import { wakeAgent } from './wake.ts'

export interface LeavingAgent {
  id: string
  organizationId: string
  job: AgentJob | null
}

export interface AgentJob {
  id: string
  buildId: string
}

const most = 200

/**
 * Agents cannot report while the server or its database is down, and must not be lost because of that. So agents and jobs
 * get the whole time again after a start, and after the database did not answer for half of the time that loses an agent.
 */
export function agentWatcher(): (ctx: Context) => Promise<void> {
  let listeningSince = performance.timeOrigin
  let answeredAt = Infinity
  return async (ctx) => {
    const now = ctx.now().getTime()
    if (now - answeredAt > (ctx.config.timers.agentLostSeconds * 1000) / 2) listeningSince = now
    await loseSilentAgents(ctx, listeningSince)
    answeredAt = now
    await loseJobsOfGoneAgents(ctx)
    await endSilentJobs(ctx, listeningSince)
    await resumeDueAgents(ctx)
  }
}

/** Runs a new watcher once. */
export const watchAgents = (ctx: Context): Promise<void> => agentWatcher()(ctx)

/** Safe to repeat. */
export async function disconnectAgent(ctx: Context, agent: LeavingAgent): Promise<void> {
  const at = ctx.now().toISOString()
  await sql`
    with moved as (
      update agents set
        connection_state = case connection_state when 'stopping' then 'stopped' else 'disconnected' end,
        stopped_at = case connection_state when 'stopping' then ${at}::timestamptz end, disconnected_at = ${at}
      where organization_id = ${agent.organizationId} and id = ${agent.id}
        and connection_state in ('never_connected', 'connected', 'stopping') returning *
    ) ${publishMoved(sql`'agent.' || connection_state`, at)}
    select from moved`.execute(ctx.db)
  if (agent.job !== null) await loseJob(ctx, agent.organizationId, agent.job)
  await wakeAgent(ctx.db, agent.id)
}

/** A job that has not started is offered to another agent. A started one ends as if its process had died. */
export async function loseJob(ctx: Context, organizationId: string, job: AgentJob): Promise<void> {
  await act(ctx, organizationId, job.buildId, { type: 'lose_agent', jobId: job.id })
}

/** Always queries the database, because its answer shows that agents can report. */
async function loseSilentAgents(ctx: Context, listeningSince: number): Promise<void> {
  const cutoff = ctx.now().getTime() - ctx.config.timers.agentLostSeconds * 1000
  const at = ctx.now().toISOString()
  const { rows } = await sql<{ id: string }>`
    with moved as (
      update agents set connection_state = 'lost', lost_at = ${at}
      where connection_state in ('connected', 'stopping') and last_seen_at <= ${new Date(cutoff).toISOString()}
        and ${cutoff >= listeningSince}
      returning *
    ) ${publishMoved(sql`'agent.lost'`, at)}
    select id from moved`.execute(ctx.db)
  for (const { id } of rows) await wakeAgent(ctx.db, id)
}

async function loseJobsOfGoneAgents(ctx: Context): Promise<void> {
  const { rows } = await sql<AgentJob & { organizationId: string }>`
    select j.id, j.build_id as "buildId", j.organization_id as "organizationId"
    from jobs j join agents a on a.id = j.agent_id
    where j.state in ('assigned', 'accepted', 'running', 'timing_out', 'canceling')
      and a.connection_state in ('disconnected', 'stopped', 'lost') limit ${most}`.execute(ctx.db)
  for (const { organizationId, ...job } of rows) await loseJob(ctx, organizationId, job)
}

/** Requests update the row at most this often. */
const noteSeconds = 5

/** Records a request with a job's token. Agents send one every few seconds to check for a cancellation, but none before the start. */
export async function noteJobRequest(
  ctx: Context,
  job: { organizationId: string; state: JobState; agent: { id: string; jobHeardAt: string | null } },
): Promise<void> {
  const { organizationId, agent } = job
  if (job.state === 'accepted') return
  const now = ctx.now()
  const before = new Date(now.getTime() - noteSeconds * 1000)
  if (agent.jobHeardAt !== null && new Date(agent.jobHeardAt) > before) return
  await sql`
    update agents set job_heard_at = ${now.toISOString()}
    where organization_id = ${organizationId} and id = ${agent.id}`.execute(ctx.db)
}

/** Whether the last request with the job's token is so recent that the job must be alive, whatever its agent sends. */
export function isJobAlive(ctx: Context, heardAt: string | null): boolean {
  const most = (noteSeconds + longestPollSeconds) * 1000
  return heardAt !== null && ctx.now().getTime() - new Date(heardAt).getTime() < most
}

/** Twice the interval that agents are given, because they add a random part of it, and a reserve for slow networks. */
const longestPollSeconds = 10

/**
 * Every request with a job's token shows that the job is alive: agents send one every few seconds, however quiet the
 * job's log is. There are two kinds of silent jobs:
 *
 * - No request so far, on an agent with a ping stream: the agent lost the answer to its accept or start, so it does not
 *   know that it has the job. An agent without a stream would ping, and pings.ts would end the job at once. As long as it
 *   does not ping it is busy, for example with a long hook before the job's first request.
 * - No request any more: the agent fails to report the end. It waits for up to four minutes between attempts, so this
 *   silence must last for twice the time that loses an agent.
 */
async function endSilentJobs(ctx: Context, listeningSince: number): Promise<void> {
  const cutoff = (times: number) => ctx.now().getTime() - times * ctx.config.timers.agentLostSeconds * 1000
  if (cutoff(1) < listeningSince) return
  const before = (times: number) => new Date(Math.max(cutoff(times), 0)).toISOString()
  const { rows } = await sql<AgentJob & { organizationId: string }>`
    select j.id, j.build_id as "buildId", j.organization_id as "organizationId"
    from jobs j join agents a on a.id = j.agent_id
    where j.state in ('running', 'timing_out', 'canceling')
      and case when a.job_heard_at >= j.started_at
        then a.job_heard_at <= ${before(2)} and ${cutoff(2) >= listeningSince}
        else j.started_at <= ${before(1)}
          and a.stream_opened_at >= j.started_at - make_interval(secs => ${longestStreamSeconds}) end
    limit ${most}`.execute(ctx.db)
  for (const { organizationId, ...job } of rows) {
    ctx.log.warn({ job_id: job.id }, 'A job sent no requests although its agent is alive; it ends as lost.')
    await loseJob(ctx, organizationId, job)
  }
}

/** Agents reopen a stream after at most a minute. */
const longestStreamSeconds = 60

export async function noteStreamOpened(
  ctx: Context,
  agent: { id: string; organizationId: string },
): Promise<void> {
  await sql`
    update agents set stream_opened_at = ${ctx.now().toISOString()}
    where organization_id = ${agent.organizationId} and id = ${agent.id}`.execute(ctx.db)
}

async function resumeDueAgents(ctx: Context): Promise<void> {
  const at = ctx.now().toISOString()
  const { rows } = await sql<{ id: string }>`
    with moved as (
      update agents set paused_at = null, paused_by = null, paused_note = null, paused_timeout_in_minutes = null,
        resume_at = null
      where resume_at <= ${at} returning *
    ) ${publishMoved(sql`'agent.changed'`, at)}
    select id from moved`.execute(ctx.db)
  for (const { id } of rows) await wakeAgent(ctx.db, id)
}
