// Agents that disconnect or fall silent, and the jobs they had; jobs that fall silent while their agents live; and paused
// agents whose time is over. Runs every few seconds on every worker. Where two workers find the same, one of them acts.
import { sql, type RawBuilder } from 'kysely'
import type { JobState } from '@millrace/engine/states.ts'
import { jobSeconds, unwrittenSeconds } from '../auth/agent-activity.ts'
import type { Config } from '../config/config.ts'
import type { Context } from '../context.ts'
import { batch } from '../db/batch.ts'
import { publishMoved } from '../events/agents.ts'
import { eachBatchApart, eachRowApart, mayBeTried } from '../db/each-row.ts'
import { act } from './act.ts'
import { wakeAgent } from './dispatch/wake.ts'

interface LeavingAgent {
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
  let listeningSince: number | null = null
  let answeredAt = Infinity
  return async (ctx) => {
    await ctx.agentActivity.flush()
    const now = ctx.now().getTime()
    listeningSince ??= ctx.startedAt.getTime()
    if (now - answeredAt > (ctx.config.timers.agentLostSeconds * 1000) / 2) listeningSince = now
    // Always queries the database, because its answer shows that agents can report.
    const at = ctx.now().toISOString()
    const [lost, silent, paused] = await batch(ctx.db, [
      silentAgents(ctx, listeningSince),
      silentJobs(ctx, listeningSince),
      pausedAgents(at),
    ])
    answeredAt = now
    const idOf = ({ id }: { id: string }) => id
    const move =
      (update: (ids: readonly string[]) => RawBuilder<{ id: string }>) =>
      (agents: readonly { id: string }[]) =>
        moveAgents(ctx, update(agents.map(idOf)))
    await eachBatchApart(ctx, 'agents_silent', lost, idOf, move(loseAgents(ctx, listeningSince)))
    await eachBatchApart(ctx, 'agents_paused', paused, idOf, move(resumeAgents(at)))
    const { rows: gone } = await jobsOfGoneAgents(at).execute(ctx.db)
    const jobs = [
      ...gone.map((job) => ({ ...job, isSilent: false })),
      ...silent.map((job) => ({ ...job, isSilent: true })),
    ]
    await eachRowApart(ctx, 'jobs_lost', jobs, idOf, async ({ organizationId, isSilent, ...job }) => {
      if (isSilent)
        ctx.log.warn(
          { job_id: job.id },
          'A job sent no requests although its agent is alive; it ends as lost.',
        )
      await loseJob(ctx, organizationId, job)
    })
  }
}

/** Moves agents, and wakes whoever waits for them. */
async function moveAgents(ctx: Context, update: RawBuilder<{ id: string }>): Promise<void> {
  const { rows } = await update.execute(ctx.db)
  for (const { id } of rows) await wakeAgent(ctx.db, id)
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

/** For queries with `agents`. */
function isSilent(ctx: Context, listeningSince: number): RawBuilder<boolean> {
  const cutoff = ctx.now().getTime() - ctx.config.timers.agentLostSeconds * 1000
  return sql`(agents.connection_state in ('connected', 'stopping')
    and agents.last_seen_at <= ${new Date(cutoff).toISOString()} and ${cutoff >= listeningSince})`
}

const silentAgents = (ctx: Context, listeningSince: number) => sql<{ id: string }>`
  select id from agents where ${isSilent(ctx, listeningSince)}
    and ${mayBeTried('agents_silent', sql`agents.id::text`, ctx.now().toISOString())} limit ${sql.lit(most)}`

const loseAgents =
  (ctx: Context, listeningSince: number) =>
  (ids: readonly string[]): RawBuilder<{ id: string }> => {
    const at = ctx.now().toISOString()
    return sql`
      with moved as (
        update agents set connection_state = 'lost', lost_at = ${at}
        where id = any (${ids}::uuid[]) and ${isSilent(ctx, listeningSince)} returning *
      ) ${publishMoved(sql`'agent.lost'`, at)}
      select id from moved`
  }

/** For tasks/pauses.ts: when agents are lost or go on, and jobs are lost, if nothing is heard of them. */
export const agentTimes = ({ timers }: Pick<Config, 'timers'>): RawBuilder<string | null> => {
  const after = (times: number) => sql`make_interval(secs => ${sql.lit(times * timers.agentLostSeconds)})`
  return sql`
    select last_seen_at + ${after(1)} from agents where connection_state in ('connected', 'stopping')
    union all select resume_at from agents where resume_at is not null
    union all select case when a.job_heard_at >= j.started_at then a.job_heard_at + ${after(2)} else j.started_at + ${after(1)} end
      from jobs j join agents a on a.id = j.agent_id where j.state in ('running', 'timing_out', 'canceling')`
}

type FoundJob = AgentJob & { organizationId: string }

const jobsOfGoneAgents = (at: string) => sql<FoundJob>`
  select j.id, j.build_id as "buildId", j.organization_id as "organizationId"
  from jobs j join agents a on a.id = j.agent_id
  where j.state in ('assigned', 'accepted', 'running', 'timing_out', 'canceling')
    and a.connection_state in ('disconnected', 'stopped', 'lost')
    and ${mayBeTried('jobs_lost', sql`j.id::text`, at)} limit ${sql.lit(most)}`

/** Records a request with a job's token. Agents send one every few seconds to check for a cancellation, but none before the start. */
export function noteJobRequest(
  ctx: Context,
  job: { organizationId: string; state: JobState; agent: { id: string } },
): void {
  const { organizationId, agent } = job
  if (job.state !== 'accepted') ctx.agentActivity.recordJobRequest({ id: agent.id, organizationId })
}

/** The signs of life of an agent's job. */
export interface JobSigns {
  startedAt: string | null
  /** The last request with the job's token since it started. */
  heardAt: string | null
  /** Whether the agent had a ping stream when the job started. */
  hadStream: boolean
}

/** Whether the last request with the job's token is so recent that the job must be alive, whatever its agent sends. */
export function isJobAlive(ctx: Context, { heardAt }: JobSigns): boolean {
  const most = (jobSeconds + unwrittenSeconds + longestPollSeconds) * 1000
  return heardAt !== null && ctx.now().getTime() - new Date(heardAt).getTime() < most
}

/**
 * How long a job without a request may still be alive although its agent pings: another process may have heard a request
 * and not have written it yet, or was killed before that, so that the job's next request shows it. Agents without a stream
 * ping only when they are idle.
 */
export function undecidedMs(ctx: Context, { startedAt, heardAt, hadStream }: JobSigns): number {
  if (heardAt !== null || startedAt === null || !hadStream) return 0
  const until = new Date(startedAt).getTime() + (unwrittenSeconds + longestPollSeconds) * 1000
  return Math.max(until - ctx.now().getTime(), 0)
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
function silentJobs(ctx: Context, listeningSince: number): RawBuilder<FoundJob> {
  const cutoff = (times: number) => ctx.now().getTime() - times * ctx.config.timers.agentLostSeconds * 1000
  const before = (times: number) => new Date(Math.max(cutoff(times), 0)).toISOString()
  return sql`
    select j.id, j.build_id as "buildId", j.organization_id as "organizationId"
    from jobs j join agents a on a.id = j.agent_id
    where ${cutoff(1) >= listeningSince} and j.state in ('running', 'timing_out', 'canceling')
      and case when a.job_heard_at >= j.started_at
        then a.job_heard_at <= ${before(2)} and ${cutoff(2) >= listeningSince}
        else j.started_at <= ${before(1)}
          and ${hadStream} end
      and ${mayBeTried('jobs_lost', sql`j.id::text`, ctx.now().toISOString())}
    limit ${sql.lit(most)}`
}

/** Agents reopen a stream after at most a minute. */
const longestStreamSeconds = 60

/** For queries with `agents a` and the agent's job `j`: whether the agent had a ping stream when the job started. */
export const hadStream = sql<boolean>`
  coalesce(a.stream_opened_at >= j.started_at - make_interval(secs => ${sql.lit(longestStreamSeconds)}), false)`

const pausedAgents = (at: string) => sql<{ id: string }>`
  select id from agents where resume_at <= ${at} and ${mayBeTried('agents_paused', sql`agents.id::text`, at)}
  limit ${sql.lit(most)}`

const resumeAgents =
  (at: string) =>
  (ids: readonly string[]): RawBuilder<{ id: string }> =>
    sql`
    with moved as (
      update agents set paused_at = null, paused_by = null, paused_note = null, paused_timeout_in_minutes = null,
        resume_at = null
      where id = any (${ids}::uuid[]) and resume_at <= ${at} returning *
    ) ${publishMoved(sql`'agent.changed'`, at)}
    select id from moved`
