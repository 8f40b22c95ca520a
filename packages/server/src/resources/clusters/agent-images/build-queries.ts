// Queries of the workers that build images, for all organizations. Each build is leased to one worker.
import { sql } from 'kysely'
import { eachBatchApart, mayBeTried, type LoopContext } from '../../../db/each-row.ts'
import type { Db } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { isFree, leaseEnd } from '../../../tasks/lease.ts'

const now = sql`now()`

export interface LeasedBuild {
  id: string
  leaseId: string
  organizationId: string
  clusterId: string
  ref: string
  baseImage: string
  dockerfile: string
  attempts: number
}

/** Leases the oldest waiting builds, up to the limit of the whole installation. */
export async function leaseBuilds(
  ctx: LoopContext,
  { most, seconds }: { most: number; seconds: number },
): Promise<LeasedBuild[]> {
  return inTransaction(ctx.db, async (trx) => {
    // The lock keeps the count valid until the leases are stored.
    await sql`select pg_advisory_xact_lock(hashtext('millrace agent image builds'))`.execute(trx)
    const { rows: waiting } = await sql<{ id: string }>`
      select i.id from agent_images i
      where i.status = 'BUILDING' and i.deleting_at is null and ${isFree('i.build_lease_until', now)}
        and ${mayBeTried('agent_images', sql`i.id::text`, ctx.now().toISOString())}
      order by i.created_at
      limit greatest(0, ${most} - (
        select count(*) from agent_images
        where status = 'BUILDING' and build_lease_id is not null and build_lease_until >= now()))
      for update skip locked`.execute(trx)
    const leased: LeasedBuild[] = []
    await eachBatchApart(
      { ...ctx, db: trx },
      'agent_images',
      waiting,
      ({ id }) => id,
      async (some) => {
        const { rows } = await sql<LeasedBuild>`
        update agent_images i set build_lease_id = gen_random_uuid(),
          build_lease_until = ${leaseEnd(now, seconds)},
          build_attempts = build_attempts + 1,
          build_started_at = case when build_attempts = 0 then now() else coalesce(build_started_at, now()) end
        where i.id = any (${some.map(({ id }) => id)}::text[])
        returning i.id, i.build_lease_id as "leaseId", i.organization_id as "organizationId",
          i.cluster_id as "clusterId", i.ref, i.base_image as "baseImage", i.dockerfile,
          i.build_attempts as attempts`.execute(trx)
        leased.push(...rows)
      },
    )
    return leased
  })
}

/** False: the lease is lost, or the image is being deleted. */
export async function renewLease(db: Db, { id, leaseId }: LeasedBuild, seconds: number): Promise<boolean> {
  const { rows } = await sql`
    update agent_images set build_lease_until = ${leaseEnd(now, seconds)}
    where id = ${id} and build_lease_id = ${leaseId} and deleting_at is null returning id`.execute(db)
  return rows.length > 0
}

/**
 * Ends the lease. A worker retries the build after so many seconds. False: the lease is lost, or so many minutes will have
 * passed since the first attempt.
 */
export async function retryLater(
  db: Db,
  { id, leaseId }: LeasedBuild,
  { seconds, minutes, error }: { seconds: number; minutes: number; error: string },
): Promise<boolean> {
  const { rows } = await sql`
    update agent_images set build_lease_id = null, build_lease_until = ${leaseEnd(now, seconds)},
      last_build_error = ${error}
    where id = ${id} and build_lease_id = ${leaseId}
      and now() + make_interval(secs => ${seconds}) < build_started_at + make_interval(secs => ${minutes * 60})
    returning id`.execute(db)
  return rows.length > 0
}

export async function finishBuild(
  db: Db,
  { id, leaseId }: LeasedBuild,
  end: { status: 'READY' } | { status: 'FAILED'; error: string },
): Promise<boolean> {
  const { rows } = await sql`
    update agent_images set status = ${end.status}, finished_at = now(), build_lease_id = null, build_lease_until = null,
      last_build_error = ${end.status === 'FAILED' ? end.error : null}
    where id = ${id} and build_lease_id = ${leaseId} returning id`.execute(db)
  return rows.length > 0
}

export async function deleteLog(db: Db, imageId: string): Promise<void> {
  await db.deleteFrom('agent_image_log_chunks').where('image_id', '=', imageId).execute()
}

export async function appendLog(
  db: Db,
  { id, leaseId }: LeasedBuild,
  sequence: number,
  body: string,
): Promise<void> {
  await sql`
    insert into agent_image_log_chunks (image_id, sequence, body)
    select id, ${sequence}, ${body} from agent_images where id = ${id} and build_lease_id = ${leaseId}`.execute(
    db,
  )
}

type StuckDeletion = Pick<LeasedBuild, 'id' | 'organizationId' | 'clusterId' | 'ref'>

/** Deletions that a process began and did not finish. */
export async function listStuckDeletions(db: Db, olderThanSeconds: number): Promise<StuckDeletion[]> {
  const { rows } = await sql<StuckDeletion>`
    select id, organization_id as "organizationId", cluster_id as "clusterId", ref from agent_images
    where deleting_at < now() - make_interval(secs => ${olderThanSeconds})`.execute(db)
  return rows
}

/** Returns the references that belong to no image. */
export async function listUnknownRefs(db: Db, refs: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ ref: string }>`
    select ref from unnest(${refs}::text[]) as given (ref)
    where not exists (select from agent_images i where i.ref = given.ref)`.execute(db)
  return rows.map(({ ref }) => ref)
}

export async function listReady(db: Db): Promise<Array<{ id: string; ref: string }>> {
  return db
    .selectFrom('agent_images')
    .select(['id', 'ref'])
    .where('status', '=', 'READY')
    .where('deleting_at', 'is', null)
    .execute()
}

/** Sets them to BUILDING again, except those deleted meanwhile. */
export async function rebuild(db: Db, ids: readonly string[]): Promise<void> {
  await sql`
    update agent_images set status = 'BUILDING', build_attempts = 0, finished_at = null,
      last_build_error = null
    where id = any (${ids}::text[]) and status = 'READY' and deleting_at is null`.execute(db)
}
