// Reconciles the engine with the tables, which can differ after a crash of either. A row is always inserted before its object
// is created, so an object without a row is left over and is deleted.
import { sql } from 'kysely'
import type { Context } from '../context.ts'
import { eachBatchApart, eachRowApart } from '../db/each-row.ts'
import type { ContainerStatus, HostedDriver } from '../hosted/driver.ts'
import * as volumes from '../resources/clusters/cache_volumes/queries.ts'
import { isEngineAway } from './engine-outage.ts'
import { endUpdates, listMirrorIds } from './mirrors.ts'
import * as hosted from './queries.ts'
import { failAgent } from './start.ts'

export async function reconcile(ctx: Context): Promise<void> {
  const { hosted: driver } = ctx
  if (driver === null) return
  await reconcileContainers(ctx, driver)
  await reconcileVolumes(ctx, driver)
}

export async function tidyEngine(ctx: Context): Promise<void> {
  await ctx.hosted?.tidy()
}

async function reconcileContainers(ctx: Context, driver: HostedDriver): Promise<void> {
  const before = await hosted.listKnown(ctx.db)
  const held = await driver.listContainers()
  const after = new Set((await hosted.listKnown(ctx.db)).map(({ id }) => id))
  const mirrors = await listMirrorIds(ctx)
  await endUpdates(
    ctx,
    driver,
    held.filter(({ id }) => mirrors.has(id)),
  )
  const unknown = held.filter(({ id }) => !after.has(id) && !mirrors.has(id))
  await eachRowApart(ctx, 'hosted_containers', unknown, idOf, ({ id }) => driver.stopContainer(id), {
    isOutage: isEngineAway,
  })
  const byId = new Map(held.map((container) => [container.id, container]))
  const end = async (known: hosted.KnownContainer): Promise<void> => {
    const container = byId.get(known.id)
    if (container?.exitStatus !== null) await endContainer(ctx, driver, known, container)
  }
  const up = before.filter(({ isUp }) => isUp)
  await eachRowApart(ctx, 'hosted_containers', up, idOf, end, { isOutage: isEngineAway })
}

const idOf = ({ id }: { id: string }) => id

/** Its container has exited, or no longer exists. */
async function endContainer(
  ctx: Context,
  driver: HostedDriver,
  { id, hasAgent, jobId }: hosted.KnownContainer,
  container: ContainerStatus | undefined,
): Promise<void> {
  if (container !== undefined && !hasAgent && jobId !== null) {
    const output = (await driver.readOutput(id)).trim().slice(-2000)
    const { rows } = await sql<{ organization_id: string }>`
      select organization_id from hosted_agents where id = ${id} and agent_id is null and job_id = ${jobId}`.execute(
      ctx.db,
    )
    const reason = `its container ended with status ${container.exitStatus} before the agent had connected.\n${output}`
    for (const { organization_id } of rows)
      await failAgent(ctx, { id, organization_id, job_id: jobId }, reason)
  }
  await hosted.setStopping(ctx.db, sql`h.id = ${id}`)
}

async function reconcileVolumes(ctx: Context, driver: HostedDriver): Promise<void> {
  const before = await volumes.listKnown(ctx.db)
  const held = await driver.listVolumes()
  const after = new Set((await volumes.listKnown(ctx.db)).map(({ id }) => id))
  const unknown = held.filter((volume) => !after.has(volume.id))
  const deleteOne = async ({ id }: { id: string }): Promise<void> => {
    await driver.detachVolume(id)
    await driver.deleteSnapshot(id)
  }
  await eachRowApart(ctx, 'hosted_volumes', unknown, idOf, deleteOne, { isOutage: isEngineAway })
  const snapshots = new Set(held.filter(({ hasSnapshot }) => hasSnapshot).map(({ id }) => id))
  const lost = before.filter(({ id, hasSnapshot }) => hasSnapshot && !snapshots.has(id)).map(({ id }) => id)
  await eachBatchApart(ctx, 'hosted_volumes', lost, String, (ids) => volumes.deleteDetached(ctx.db, ids))
}
