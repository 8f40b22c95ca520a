// The share that a job belongs to, where its queue is fair. It follows from ids that members cannot choose: never from names, from
// `env`, or from what a commit says about its author.
import { sql, type RawBuilder } from 'kysely'
import type { Context } from '../../context.ts'
import type { Db, Trx } from '../../db/pool.ts'
import { enqueue } from '../../tasks/enqueue.ts'
import type { Kinds } from '../../tasks/kinds.ts'

/** For queries with `cluster_queues q`. null: the queue is not fair. */
export const shareKey = (of: {
  organizationId: RawBuilder<unknown>
  userId: RawBuilder<unknown>
  pipelineId: RawBuilder<unknown>
}): RawBuilder<string | null> => sql`
  case q.fair_by
    when 'pipeline' then 'p:' || ${of.pipelineId}
    -- A push has no creator: its commits can carry any name.
    when 'creator' then coalesce('u:' || ${of.userId}, 'p:' || ${of.pipelineId})
    when 'team' then 't:' || coalesce((
      select t.team_id::text from team_pipelines t
      where t.organization_id = ${of.organizationId} and t.pipeline_id = ${of.pipelineId}
      order by array_position(array['manage_build_and_read', 'build_and_read', 'read_only'], t.access_level), t.created_at, t.team_id
      limit 1), '')
  end`

/** The id of the pipeline, team or user; '' for pipelines without a team. */
export const idOfShare = (key: string): string => key.slice('p:'.length)

const keyOfJob = shareKey({
  organizationId: sql`j.organization_id`,
  userId: sql`coalesce(j.charged_user_id, b.charged_user_id, b.creator_id)`,
  pipelineId: sql`coalesce(b.charged_pipeline_id, b.pipeline_id)`,
})

const mostAtOnce = 2000

/**
 * After a change of what the queue is fair by, for so many jobs from `after` on. Jobs that another transaction holds just now keep
 * their share for the time being; without one they run when no other job does. Returns where to go on; null: at the end.
 */
async function assignShares(
  db: Db,
  organizationId: string,
  queueId: string,
  after: string,
): Promise<string | null> {
  const { rows } = await sql<{ last: string | null }>`
    with next as materialized (
      select j.id from jobs j
      where j.queue_id = ${queueId} and j.organization_id = ${organizationId} and j.finished_at is null and j.kind = 'script'
        and j.id > ${after}
      order by j.id limit ${sql.lit(mostAtOnce)}
    ), held as (
      select j.id from jobs j where j.id in (select id from next) order by j.id for update skip locked
    ), changed as (
      update jobs j set share_key = ${keyOfJob}
      from held, builds b, cluster_queues q
      where j.id = held.id and b.id = j.build_id and q.id = j.queue_id and j.organization_id = ${organizationId}
        and j.share_key is distinct from ${keyOfJob}
    )
    select case when count(*) = ${sql.lit(mostAtOnce)} then max(id::text) end as last from next`.execute(db)
  return rows[0]?.last ?? null
}

const firstId = '00000000-0000-0000-0000-000000000000'

/** The shares begin anew: nothing that was charged before counts. */
export async function restartShares(trx: Trx, organizationId: string, queueId: string): Promise<void> {
  await sql`delete from fair_queues where organization_id = ${organizationId} and queue_id = ${queueId}`.execute(
    trx,
  )
  await sql`
    insert into fair_queues (queue_id, organization_id)
    select q.id, q.organization_id from cluster_queues q
    where q.organization_id = ${organizationId} and q.id = ${queueId} and q.fair_by <> 'none'`.execute(trx)
  const isMore = (await assignShares(trx, organizationId, queueId, firstId)) !== null
  const payload = { queue_id: queueId, organization_id: organizationId }
  if (isMore) await enqueue(trx, 'assign_shares', payload, { key: `${queueId} rest` })
  await enqueue(trx, 'assign_shares', payload, { key: queueId, afterSeconds: againSeconds })
}

/** Longer than a statement may take: jobs that were inserted while the queue changed have their rows by then. */
const againSeconds = 30

/** In one transaction for each part, so that a long queue is not locked for long. */
export async function assignSharesAgain(
  { db }: Context,
  { queue_id: queueId, organization_id: organizationId }: Kinds['assign_shares'],
): Promise<void> {
  for (let after: string | null = firstId; after !== null;)
    after = await assignShares(db, organizationId, queueId, after)
}

/** Who retries a job pays for it. */
export async function chargeRetry(
  trx: Trx,
  organizationId: string,
  retriedJobId: string,
  { userId, isMachine }: { userId: string; isMachine: boolean },
): Promise<void> {
  await sql`
    update jobs j set charged_user_id = ${userId}, is_machine = ${isMachine}::boolean or u.is_service_account,
      share_key = (select ${shareKey({
        organizationId: sql`old.organization_id`,
        userId: sql`u.id`,
        pipelineId: sql`coalesce(b.charged_pipeline_id, b.pipeline_id)`,
      })} from cluster_queues q where q.id = j.queue_id)
    from jobs old, builds b, users u
    where old.organization_id = ${organizationId} and old.id = ${retriedJobId} and j.id = old.retried_in_job_id
      and j.organization_id = old.organization_id and b.id = old.build_id and u.id = ${userId}`.execute(trx)
}
