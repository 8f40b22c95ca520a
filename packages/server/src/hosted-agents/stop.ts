import { sql } from 'kysely'
import { disconnectAgent, type AgentJob } from '../conductor/lost-agents.ts'
import type { Context } from '../context.ts'
import { eachBatchApart } from '../db/each-row.ts'
import type { HostedDriver } from '../hosted/driver.ts'
import * as hosted from './queries.ts'
import { retrySeconds } from './rules.ts'
import { saveOrDeleteVolumes } from './cache-volumes.ts'

/** An agent disconnects right after its job has finished. After this time it counts as stuck. */
const disconnectSeconds = 10

/** How long a started container may take until its agent registers. */
const registerSeconds = 120

const acceptSeconds = 300

/** Sets agents to `stopping` whose job has ended, whose agent has left, or whose time is up. */
export async function setEndedStopping(ctx: Context): Promise<number> {
  const now = ctx.now().getTime()
  const before = (seconds: number) => new Date(now - seconds * 1000).toISOString()
  const isEnded = sql`(
      h.ends_at <= ${before(0)}
      or (h.started_at <= ${before(registerSeconds)} and h.agent_id is null)
      or exists (select from agents a where a.id = h.agent_id
        and a.connection_state in ('disconnected', 'stopped', 'lost'))
      or exists (select from jobs j where j.id = h.job_id and (
        j.finished_at is not null and (h.agent_id is null or j.finished_at <= ${before(disconnectSeconds)})
        or j.state = 'scheduled' and h.assigned_at <= ${before(acceptSeconds)}
        or j.state in ('reserved', 'assigned', 'accepted', 'running', 'timing_out', 'canceling')
          and j.agent_id is distinct from h.agent_id
        or h.agent_id is null and j.finished_at is null
          and j.state not in ('scheduled', 'reserved', 'assigned', 'accepted', 'running', 'timing_out', 'canceling'))))`
  let count = 0
  await eachBatchApart(
    ctx,
    'hosted_agents_ended',
    await hosted.listToStop(ctx.db, isEnded),
    String,
    async (ids) => {
      count += await hosted.setStopping(ctx.db, sql`h.id = any (${ids}::uuid[]) and ${isEnded}`)
    },
  )
  return count
}

/** Stops the container, saves or deletes the volumes, and deletes the row last. A failure is retried. */
export async function stopAgent(
  ctx: Context,
  driver: HostedDriver,
  agent: hosted.HostedAgent,
): Promise<void> {
  try {
    await disconnect(ctx, agent)
    await driver.stopContainer(agent.id)
    await saveOrDeleteVolumes(ctx, driver, agent)
    await hosted.deleteStopped(ctx.db, agent.id)
  } catch (error) {
    ctx.log.warn({ err: error, hosted_agent_id: agent.id }, 'A hosted agent could not be stopped.')
    const until = new Date(ctx.now().getTime() + retrySeconds(agent.start_attempts) * 1000).toISOString()
    const message = error instanceof Error ? error.message : String(error)
    await hosted.postpone(ctx.db, agent.id, { state: 'stopping', until, error: message })
  }
}

/** Ends the agent's session, even if the container still runs. */
async function disconnect(ctx: Context, { organization_id, agent_id }: hosted.HostedAgent): Promise<void> {
  if (agent_id === null) return
  const { rows } = await sql<AgentJob>`
    select id, build_id as "buildId" from jobs
    where organization_id = ${organization_id} and agent_id = ${agent_id}
      and state in ('assigned', 'accepted', 'running', 'timing_out', 'canceling')`.execute(ctx.db)
  await disconnectAgent(ctx, { id: agent_id, organizationId: organization_id, job: rows[0] ?? null })
}
