// Keeps the first estimate of each job that waits, so that its error is known when the job starts. Jobs that an agent takes at
// once have none. Only the newest jobs get one: an estimate of a job that has waited long says little about the first one.
import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import { eachRowApart, mayBeTried } from '../../db/each-row.ts'
import { dispatchOrder } from '../dispatch/claim.ts'
import { estimateQueue } from './estimate-queue.ts'
import { mostJobs, type Queue } from './queue-rows.ts'

const newSeconds = 30
/** The others are found by the next run. */
const mostQueues = 50
const keptDays = 7
const mostExpired = 5000

export async function rememberEstimates(ctx: Context): Promise<void> {
  const at = ctx.now()
  const { rows } = await newlyWaiting(at.toISOString()).execute(ctx.db)
  await eachRowApart(
    ctx,
    'queue_estimates',
    rows,
    ({ queueId }) => queueId,
    (queue) => remember(ctx, queue, at),
  )
  await expired(at.toISOString()).execute(ctx.db)
}

/** Queues among whose first jobs one is new and has no estimate. */
const newlyWaiting = (at: string) => sql<Queue>`
  select q.organization_id as "organizationId", q.id as "queueId" from cluster_queues q
  where q.dispatch_paused_at is null and ${mayBeTried('queue_estimates', sql`q.id::text`, at)} and exists (
    select from (
      select j.id, j.runnable_at from jobs j where j.queue_id = q.id and j.state = 'scheduled'
      order by ${dispatchOrder} limit ${sql.lit(mostJobs)}) j
    where j.runnable_at > ${at}::timestamptz - make_interval(secs => ${sql.lit(newSeconds)})
      and not exists (select from job_estimates e where e.job_id = j.id))
  order by random() limit ${sql.lit(mostQueues)}`

async function remember(ctx: Context, queue: Queue, at: Date): Promise<void> {
  const estimates = await estimateQueue(ctx.db, queue, at)
  const found = estimates.jobs.flatMap(({ id, waitedSeconds }) => {
    const { startAt } = estimates.of(id, 1)
    return waitedSeconds > newSeconds || startAt === null ? [] : [{ id, startAt: startAt.toISOString() }]
  })
  if (found.length === 0) return
  const ids = found.map(({ id }) => id)
  const startsAt = found.map(({ startAt }) => startAt)
  await sql`
    insert into job_estimates (job_id, organization_id, queue_id, estimated_at, estimated_start_at)
    select f.id, q.organization_id, q.id, ${at.toISOString()}, f.start_at
    from unnest(${ids}::uuid[], ${startsAt}::timestamptz[]) as f (id, start_at)
    join cluster_queues q on q.organization_id = ${queue.organizationId} and q.id = ${queue.queueId}
    on conflict (job_id) do nothing`.execute(ctx.db)
}

const expired = (at: string) => sql`
  delete from job_estimates where job_id in (
    select job_id from job_estimates
    where estimated_at < ${at}::timestamptz - make_interval(days => ${sql.lit(keptDays)})
    order by estimated_at limit ${sql.lit(mostExpired)})`
