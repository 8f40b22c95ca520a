import { sql } from 'kysely'
import type { HostedSettings } from '../config/hosted.ts'
import type { Context } from '../context.ts'
import { HostedNotFound, HostedRefused, type Container, type HostedDriver } from '../hosted/driver.ts'
import * as volumes from '../resources/clusters/cache_volumes/queries.ts'
import { describeContainer } from './container.ts'
import { failJob } from './fail-job.ts'
import * as hosted from './queries.ts'
import { retrySeconds } from './rules.ts'
import { hostedToken, hostedTokenHash } from './token.ts'
import { attachVolume } from './cache-volumes.ts'

/** The lifetime of the token, from the start of the container. */
const tokenSeconds = 300

/** A job whose container cannot be started for so long fails with the engine's words. */
const mostStartMinutes = 60

/** The wait before a warm agent that the engine refused is tried again. */
const refusedSeconds = 300

/** Starts the agent's container. Continues an interrupted attempt. A failure is retried, or fails the job. */
export async function startAgent(
  ctx: Context,
  driver: HostedDriver,
  settings: HostedSettings,
  agent: hosted.HostedAgent,
): Promise<void> {
  try {
    await start(ctx, driver, settings, agent)
  } catch (error) {
    const isRefused = error instanceof HostedRefused || error instanceof HostedNotFound
    const message = error instanceof Error ? error.message : String(error)
    const seconds = isRefused ? refusedSeconds : retrySeconds(agent.start_attempts)
    const until = new Date(ctx.now().getTime() + seconds * 1000).toISOString()
    // A short job may have ended, and its container been deleted, before the engine answers the start.
    if (!(await hosted.postpone(ctx.db, agent.id, { state: 'starting', until, error: message }))) return
    ctx.log.warn({ err: error, hosted_agent_id: agent.id }, 'A hosted agent could not be started.')
    if (agent.job_id === null) return
    if (isRefused) await failAgent(ctx, agent, message)
    else if (ctx.now().getTime() - Date.parse(agent.wanted_since) > mostStartMinutes * 60_000) {
      await failAgent(
        ctx,
        agent,
        `its container could not be started for ${mostStartMinutes} minutes: ${message}`,
      )
    }
  }
}

async function start(
  ctx: Context,
  driver: HostedDriver,
  settings: HostedSettings,
  agent: hosted.HostedAgent,
): Promise<void> {
  const expiresAt = new Date(ctx.now().getTime() + tokenSeconds * 1000).toISOString()
  const [own] = await Promise.all([
    volumes.listOwn(ctx.db, agent.id),
    hosted.setToken(ctx.db, agent.id, hostedTokenHash(ctx, agent.id), expiresAt),
  ])
  for (const volume of own) await attachVolume(ctx, driver, volume)
  const { endpoint } = settings
  await startWithOrWithoutMirror(
    driver,
    describeContainer(agent, own, { endpoint, token: hostedToken(ctx, agent.id) }),
  )
  // The agent was stopped during the start, so its container has to be stopped here.
  if (!(await hosted.setStarted(ctx.db, agent.id, ctx.now().toISOString()))) {
    await driver.stopContainer(agent.id)
  }
}

/** The cluster's mirror may have just been disabled. The job can run without it. */
async function startWithOrWithoutMirror(driver: HostedDriver, container: Container): Promise<void> {
  const isMirror = ({ kind }: Container['mounts'][number]) => kind === 'git_mirror'
  try {
    await driver.startContainer(container)
  } catch (error) {
    if (!(error instanceof HostedNotFound) || !container.mounts.some(isMirror)) throw error
    await driver.startContainer({
      ...container,
      mounts: container.mounts.filter((mount) => !isMirror(mount)),
    })
  }
}

export async function failAgent(
  ctx: Context,
  { id, organization_id, job_id }: Pick<hosted.HostedAgent, 'id' | 'organization_id' | 'job_id'>,
  reason: string,
): Promise<void> {
  const { rows } = await sql<{ id: string; build_id: string }>`
    select id, build_id from jobs where organization_id = ${organization_id} and id = ${job_id}`.execute(
    ctx.db,
  )
  for (const job of rows) await failJob(ctx, { ...job, organization_id, reason })
  await hosted.setStopping(ctx.db, sql`h.id = ${id}`)
}
