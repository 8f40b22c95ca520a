// What the workers that build images read and write, for all organizations: each build is leased to one of them.
import { sql } from 'kysely'
import type { Db } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'

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

/** The oldest that wait, as many as may still run at once in the whole installation. */
export async function leaseBuilds(
  db: Db,
  { most, seconds }: { most: number; seconds: number },
): Promise<LeasedBuild[]> {
  return inTransaction(db, async (trx) => {
    // One at a time, so that the count stays true until the leases are written.
    await sql`select pg_advisory_xact_lock(hashtext('millrace agent image builds'))`.execute(trx)
    const { rows } = await sql<LeasedBuild>`
      with waiting as (
        select id from agent_images
        where status = 'BUILDING' and deleting_at is null
          and (build_lease_until is null or build_lease_until < now())
        order by created_at
        limit greatest(0, ${most} - (
          select count(*) from agent_images
          where status = 'BUILDING' and build_lease_id is not null and build_lease_until >= now()))
        for update skip locked)
      update agent_images i set build_lease_id = gen_random_uuid(),
        build_lease_until = now() + make_interval(secs => ${seconds}),
        build_attempts = build_attempts + 1, build_started_at = now()
      from waiting where i.id = waiting.id
      returning i.id, i.build_lease_id as "leaseId", i.organization_id as "organizationId",
        i.cluster_id as "clusterId", i.ref, i.base_image as "baseImage", i.dockerfile,
        i.build_attempts as attempts`.execute(trx)
    return rows
  })
}

/** False: it is no longer ours to build, because the lease was lost or the image is being deleted. */
export async function renewLease(db: Db, { id, leaseId }: LeasedBuild, seconds: number): Promise<boolean> {
  const { rows } = await sql`
    update agent_images set build_lease_until = now() + make_interval(secs => ${seconds})
    where id = ${id} and build_lease_id = ${leaseId} and deleting_at is null returning id`.execute(db)
  return rows.length > 0
}

/** Somebody takes it up again, not before so many seconds. */
export async function giveBack(db: Db, { id, leaseId }: LeasedBuild, seconds: number): Promise<void> {
  await sql`
    update agent_images set build_lease_id = null, build_lease_until = now() + make_interval(secs => ${seconds})
    where id = ${id} and build_lease_id = ${leaseId}`.execute(db)
}

/** False: it was no longer ours to build. */
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

export async function clearLog(db: Db, imageId: string): Promise<void> {
  await db.deleteFrom('agent_image_log_chunks').where('image_id', '=', imageId).execute()
}

/** Nothing is written for a build that is no longer ours. */
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

/** Deletions that a dying process left in the middle. */
export async function listStuckDeletions(
  db: Db,
  olderThanSeconds: number,
): Promise<Array<{ id: string; organizationId: string; clusterId: string; ref: string }>> {
  const { rows } = await sql<{ id: string; organizationId: string; clusterId: string; ref: string }>`
    select id, organization_id as "organizationId", cluster_id as "clusterId", ref from agent_images
    where deleting_at < now() - make_interval(secs => ${olderThanSeconds})`.execute(db)
  return rows
}

/** Which of these names no image has. */
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

/** They are BUILDING again, unless they have been deleted meanwhile. */
export async function rebuild(db: Db, ids: readonly string[]): Promise<void> {
  await sql`
    update agent_images set status = 'BUILDING', build_attempts = 0, finished_at = null
    where id = any (${ids}::text[]) and status = 'READY' and deleting_at is null`.execute(db)
}
