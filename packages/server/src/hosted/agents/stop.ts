import { sql } from 'kysely'
import { disconnectAgent, type AgentJob } from '../../conductor/lost-agents.ts'
import type { Context } from '../../context.ts'
import type { HostedDriver } from '../driver.ts'
import * as hosted from './queries.ts'
import { retrySeconds } from './rules.ts'
import { settleVolumes } from './cache-volumes.ts'

/** An agent that said how its job ended says goodbye at once; after this it is taken for stuck. */
const goodbyeSeconds = 10

/** From the start of a container until its agent should have registered. */
const registerSeconds = 120

/** How long an agent may be offered its job again and again. */
const acceptSeconds = 300

/** Those whose job is over, whose agent has left, or whose time is up. */
export async function endAgents(ctx: Context): Promise<number> {
  const now = ctx.now().getTime()
  const before = (seconds: number) => new Date(now - seconds * 1000).toISOString()
  return hosted.setStopping(
    ctx.db,
    sql`(
      h.ends_at <= ${before(0)}
      or (h.started_at <= ${before(registerSeconds)} and h.agent_id is null)
      or exists (select from agents a where a.id = h.agent_id
        and a.connection_state in ('disconnected', 'stopped', 'lost'))
      or exists (select from jobs j where j.id = h.job_id and (
        j.finished_at is not null and (h.agent_id is null or j.finished_at <= ${before(goodbyeSeconds)})
        or j.state = 'scheduled' and h.assigned_at <= ${before(acceptSeconds)}
        or j.state in ('reserved', 'assigned', 'accepted', 'running', 'timing_out', 'canceling')
          and j.agent_id is distinct from h.agent_id
        or h.agent_id is null and j.finished_at is null
          and j.state not in ('scheduled', 'reserved', 'assigned', 'accepted', 'running', 'timing_out', 'canceling'))))`,
  )
}

/** Ends whatever is left of it, and forgets it when nothing is. What fails is tried again. */
export async function stopAgent(
  ctx: Context,
  driver: HostedDriver,
  agent: hosted.HostedAgent,
): Promise<void> {
  try {
    await letGo(ctx, agent)
    await driver.stopContainer(agent.id)
    await settleVolumes(ctx, driver, agent)
    await hosted.deleteStopped(ctx.db, agent.id)
  } catch (error) {
    ctx.log.warn({ err: error, hosted_agent_id: agent.id }, 'A hosted agent could not be stopped.')
    const until = new Date(ctx.now().getTime() + retrySeconds(agent.start_attempts) * 1000).toISOString()
    const message = error instanceof Error ? error.message : String(error)
    await hosted.postpone(ctx.db, agent.id, { state: 'stopping', until, error: message })
  }
}

/** From here on its session counts for nothing, whatever still runs in the container. */
async function letGo(ctx: Context, { organization_id, agent_id }: hosted.HostedAgent): Promise<void> {
  if (agent_id === null) return
  const { rows } = await sql<AgentJob>`
    select id, build_id as "buildId" from jobs
    where organization_id = ${organization_id} and agent_id = ${agent_id}
      and state in ('assigned', 'accepted', 'running', 'timing_out', 'canceling')`.execute(ctx.db)
  await disconnectAgent(ctx, { id: agent_id, organizationId: organization_id, job: rows[0] ?? null })
}
