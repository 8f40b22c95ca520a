// Assigns jobs to agents, which accept them. It updates only the rows of these jobs, so agents never wait for a build's lock;
// `assigned` and `accepted` count like `scheduled` everywhere, so no counter changes.
import { sql, type RawBuilder } from 'kysely'
import type { JobState } from '@millrace/engine/states.ts'
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { prepared, type Statement } from '../../db/statement.ts'
import { after, startSeconds } from '../timers.ts'

export interface Pair {
  agentId: string
  jobId: string
}

export interface Assigned extends Pair {
  buildId: string
  runnableAt: string | null
}

/** The process's state of its waiting agents may be out of date, so the statement checks their rows. */
export function assign(ctx: Context, pairs: readonly Pair[]): Statement<Assigned> {
  const at = ctx.now().toISOString()
  const { acceptSeconds } = ctx.config.timers
  const [first] = pairs
  if (first !== undefined && pairs.length === 1)
    return assignOne(first.jobId, first.agentId, at, acceptSeconds)
  const jobIds = pairs.map(({ jobId }) => jobId)
  const agentIds = pairs.map(({ agentId }) => agentId)
  return assignMany(jobIds, agentIds, at, acceptSeconds)
}

/** PostgreSQL plans a statement for one pair once, but one with arrays every time. */
const assignOne = prepared((jobId: string, agentId: string, at: string, acceptSeconds: number) =>
  assigning(sql`(values (${jobId}::uuid, ${agentId}::uuid)) as p (job_id, agent_id)`, at, acceptSeconds),
)

const assignMany = prepared((jobIds: string[], agentIds: string[], at: string, acceptSeconds: number) =>
  assigning(sql`unnest(${jobIds}::uuid[], ${agentIds}::uuid[]) as p (job_id, agent_id)`, at, acceptSeconds),
)

const assigning = (pairs: RawBuilder<unknown>, at: string, acceptSeconds: number) =>
  moveAndPublish(at, ['scheduled', 'assigned'], assignment(pairs, at, acceptSeconds))

export const assignment = (
  pairs: RawBuilder<unknown>,
  at: string,
  acceptSeconds: number,
  also: RawBuilder<unknown> = sql``,
) => sql`
  update jobs j set state = 'assigned', agent_id = a.id, deadline_at = ${after(at, acceptSeconds)}${also}
  from ${pairs} join agents a on a.id = p.agent_id
  where j.id = p.job_id and ${isDispatchable} and not exists (
    select from jobs busy where busy.agent_id = a.id
      and busy.state in ('assigned', 'accepted', 'running', 'timing_out', 'canceling'))`

/** Assigns a job to the hosted agent that was started for it. False: the job does not wait for an agent now. */
export async function assignJob(
  trx: Trx,
  ctx: Context,
  { jobId, agentId, mostMinutes }: { jobId: string; agentId: string; mostMinutes: number },
): Promise<boolean> {
  const at = ctx.now().toISOString()
  const { rows } = await moveAndPublish(
    at,
    ['scheduled', 'assigned'],
    sql`
      update jobs j set state = 'assigned', agent_id = ${agentId}, deadline_at = ${after(at, ctx.config.timers.acceptSeconds)},
        timeout_minutes = least(j.timeout_minutes, ${mostMinutes})
      from cluster_queues q
      where j.id = ${jobId} and j.state = 'scheduled' and q.id = j.queue_id and q.dispatch_paused_at is null`,
  ).execute(trx)
  return rows.length > 0
}

/** Assigns a job that an agent has not accepted to another agent. */
export async function reassignJob(
  trx: Trx,
  fromAgentId: string,
  toAgentId: string,
  at: string,
): Promise<void> {
  await sql`
    with moved as (
      update jobs set agent_id = ${toAgentId} where agent_id = ${fromAgentId} and state = 'assigned' returning *
    ), published as (
      insert into events (organization_id, pipeline_id, build_id, job_id, kind, created_at)
      select organization_id, pipeline_id, build_id, id, 'job.changed', ${at}::timestamptz from moved
    )
    insert into events (organization_id, kind, data, created_at)
    select organization_id, 'agent.changed', jsonb_build_object('agent_id', agent.id), ${at}::timestamptz
    from moved cross join (values (${fromAgentId}::uuid), (${toAgentId}::uuid)) as agent (id)`.execute(trx)
}

/** Accepts a job for the agent that it is assigned to. False: it is not assigned to this agent now. */
export async function acceptAssigned(
  ctx: Context,
  agent: { id: string; organizationId: string },
  jobId: string,
): Promise<boolean> {
  const at = ctx.now().toISOString()
  const { rows } = await accept(agent.organizationId, agent.id, jobId, at).execute(ctx.db)
  return rows.length > 0
}

const accept = prepared((organizationId: string, agentId: string, jobId: string, at: string) =>
  moveAndPublish(
    at,
    ['assigned', 'accepted'],
    sql`
      update jobs j set state = 'accepted', deadline_at = ${after(at, startSeconds)}
      where j.id = ${jobId} and j.organization_id = ${organizationId} and j.agent_id = ${agentId}
        and j.state = 'assigned'`,
  ),
)

type Move = readonly [from: JobState, to: JobState]

export const moveAndPublish = (
  at: string,
  move: Move,
  update: RawBuilder<unknown>,
): RawBuilder<Assigned> => sql<Assigned>`
  with ${movedAndPublished(at, move, update)}
  select id as "jobId", build_id as "buildId", agent_id as "agentId", runnable_at as "runnableAt" from moved`

export const movedAndPublished = (at: string, [from, to]: Move, update: RawBuilder<unknown>) => sql`
  moved as (
    ${update} returning j.organization_id, j.pipeline_id, j.build_id, j.id, j.step_id, j.agent_id, j.runnable_at
  ), published as (
    insert into events (organization_id, pipeline_id, build_id, job_id, kind, data, created_at)
    select organization_id, pipeline_id, build_id, id, 'job.state_changed',
      jsonb_build_object('from', ${sql.lit(from)}, 'to', ${sql.lit(to)}, 'step_id', step_id, 'event_names', '[]'::jsonb), ${at}
    from moved
  )`

/** For queries with `agents a`: jobs may be offered to it. */
const isDispatchable = sql<boolean>`
  (a.connection_state = 'connected' and a.paused_at is null and not a.ignore_in_dispatches)`
