// A job's own copy of a cache volume: attached before its container starts, kept or dropped after it has ended.
import { sql } from 'kysely'
import { originsOf } from '../../conductor/trust.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { HostedNotFound, type HostedDriver } from '../driver.ts'
import * as volumes from '../../resources/cache_volumes/queries.ts'
import type { HostedAgent } from './queries.ts'

const unusedDays = 14

/** A copy of the newest that is kept for the tag, or an empty one. */
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
      // The tag was deleted just now, or the engine has lost it: the next best will do.
      if (from === null || !(error instanceof HostedNotFound)) throw error
      await volumes.forgetKept(ctx.db, [from])
    }
  }
}

/** Its container has ended. What a job that passed left becomes the newest; what others left is gone. */
export async function settleVolumes(ctx: Context, driver: HostedDriver, agent: HostedAgent): Promise<void> {
  const own = await volumes.listOwn(ctx.db, agent.id)
  const mayKeep = own.length > 0 && (await hasPassed(ctx, agent))
  for (const volume of own) {
    if (mayKeep && (await volumes.setKeeping(ctx.db, volume.id))) await keep(ctx, driver, volume)
    else {
      await volumes.setDropping(ctx.db, volume.id)
      await drop(ctx, driver, volume.id)
    }
  }
}

async function keep(ctx: Context, driver: HostedDriver, volume: volumes.OwnVolume): Promise<void> {
  const { sizeMb } = await driver.snapshotVolume(volume.id)
  await driver.detachVolume(volume.id)
  await inTransaction(ctx.db, async (trx) => {
    await volumes.setDetached(trx, volume, { sizeMb, at: ctx.now().toISOString() })
    await volumes.dropOverLimit(trx, volume, ctx.config.hosted?.cacheLimitMb ?? 0)
  })
}

/** What others may send in must not end up in everybody's cache, so builds of forks keep nothing, trusted or not. */
async function hasPassed(ctx: Context, { organization_id, job_id, agent_id }: HostedAgent): Promise<boolean> {
  const { rows } = await sql<{ build_id: string }>`
    select build_id from jobs
    where organization_id = ${organization_id} and id = ${job_id} and agent_id = ${agent_id}
      and state = 'passed' and exit_status = 0`.execute(ctx.db)
  const [job] = rows
  return job !== undefined && !(await originsOf(ctx.db, organization_id, job.build_id)).isFork
}

/** Those nobody uses any more, those that others replaced or that did not fit, and copies without their agent. */
export async function dropVolumes(ctx: Context): Promise<void> {
  const { hosted: driver } = ctx
  if (driver === null) return
  const before = new Date(ctx.now().getTime() - unusedDays * 24 * 60 * 60_000).toISOString()
  await volumes.dropUnused(ctx.db, before)
  for (const id of await volumes.listToDrop(ctx.db)) await drop(ctx, driver, id)
}

async function drop(ctx: Context, driver: HostedDriver, id: string): Promise<void> {
  await driver.detachVolume(id)
  await driver.deleteVolume(id)
  await volumes.deleteDropped(ctx.db, id)
}
