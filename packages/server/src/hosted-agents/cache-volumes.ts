// A job's own copy of a cache volume: attached before its container starts, saved or deleted after it has ended.
import { sql } from 'kysely'
import { originsOf } from '../conductor/trust.ts'
import type { Context } from '../context.ts'
import { changeRows, eachRowApart } from '../db/each-row.ts'
import { inTransaction } from '../db/transaction.ts'
import { HostedNotFound, type HostedDriver } from '../hosted/driver.ts'
import * as volumes from '../resources/clusters/cache_volumes/queries.ts'
import { isEngineAway } from './engine-outage.ts'
import type { HostedAgent } from './queries.ts'

const unusedDays = 14

export async function attachVolume(
  ctx: Context,
  driver: HostedDriver,
  volume: volumes.OwnVolume,
): Promise<void> {
  if (volume.state !== 'attaching') return
  for (;;) {
    const from = await volumes.chooseParent(ctx.db, volume)
    try {
      await driver.attachVolume({
        id: volume.id,
        clusterId: volume.cluster_id,
        from,
        sizeMb: volume.requested_mb,
      })
      await volumes.setAttached(ctx.db, volume.id, from, ctx.now().toISOString())
      return
    } catch (error) {
      // The tag was just deleted, or the engine has lost the snapshot, so take the next newest.
      if (from === null || !(error instanceof HostedNotFound)) throw error
      await volumes.deleteDetached(ctx.db, [from])
    }
  }
}

/** After the container has ended. The volume of a passed job becomes the tag's newest; others are deleted. */
export async function saveOrDeleteVolumes(
  ctx: Context,
  driver: HostedDriver,
  agent: HostedAgent,
): Promise<void> {
  const own = await volumes.listOwn(ctx.db, agent.id)
  const maySave = own.length > 0 && (await hasPassed(ctx, agent))
  for (const volume of own) {
    if (maySave && (await volumes.setKeeping(ctx.db, volume.id))) await saveVolume(ctx, driver, volume)
    else {
      await volumes.setDropping(ctx.db, volume.id)
      await deleteVolume(ctx, driver, volume.id)
    }
  }
}

async function saveVolume(ctx: Context, driver: HostedDriver, volume: volumes.OwnVolume): Promise<void> {
  const { sizeMb } = await driver.snapshotVolume(volume.id)
  await driver.detachVolume(volume.id)
  await inTransaction(ctx.db, async (trx) => {
    await volumes.setDetached(trx, volume, { sizeMb, at: ctx.now().toISOString() })
    await volumes.expireOverLimit(trx, volume, ctx.config.hosted?.cacheLimitMb ?? 0)
  })
}

/** False for builds of forks, trusted or not: anybody can write these, and the cache serves all builds. */
async function hasPassed(ctx: Context, { organization_id, job_id, agent_id }: HostedAgent): Promise<boolean> {
  const { rows } = await sql<{ build_id: string }>`
    select build_id from jobs
    where organization_id = ${organization_id} and id = ${job_id} and agent_id = ${agent_id}
      and state = 'passed' and exit_status = 0`.execute(ctx.db)
  const [job] = rows
  return job !== undefined && !(await originsOf(ctx.db, organization_id, job.build_id)).isFork
}

/** Expires unused volumes, and deletes all that are `dropping` or whose agent is gone. */
export async function expireVolumes(ctx: Context): Promise<void> {
  const { hosted: driver } = ctx
  if (driver === null) return
  const before = new Date(ctx.now().getTime() - unusedDays * 24 * 60 * 60_000).toISOString()
  await changeRows(ctx, 'cache_volumes', volumes.expireUnused(before))
  const ids = await volumes.listToDelete(ctx.db, ctx.now().toISOString())
  await eachRowApart(ctx, 'cache_volumes', ids, String, (id) => deleteVolume(ctx, driver, id), {
    isOutage: isEngineAway,
  })
}

async function deleteVolume(ctx: Context, driver: HostedDriver, id: string): Promise<void> {
  await driver.detachVolume(id)
  await driver.deleteSnapshot(id)
  await volumes.deleteRow(ctx.db, id)
}
