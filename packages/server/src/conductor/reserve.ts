// A stack sets jobs aside while it starts agents for them: nobody else is offered them meanwhile. An agent takes such
// a job by its name; one that nobody took by its deadline is put back by sweep.ts. Like claim.ts it touches those
// jobs' rows and nothing else: `reserved` counts like `scheduled` everywhere, so no counter moves.
import { sql } from 'kysely'
import type { Context } from '../context.ts'

export interface Reservation {
  organizationId: string
  clusterId: string
  stackId: string
  seconds: number
}

/** The jobs that are the stack's now; for those it had already the time begins anew, unless it is over. */
export async function reserveJobs(
  ctx: Context,
  { organizationId, clusterId, stackId, seconds }: Reservation,
  jobIds: readonly string[],
): Promise<string[]> {
  const at = ctx.now().toISOString()
  const { rows } = await sql<{ id: string }>`
    with free as (
      select j.id, j.state from jobs j join cluster_queues q on q.id = j.queue_id
      where j.organization_id = ${organizationId} and j.cluster_id = ${clusterId}
        and j.id = any (${jobIds}::uuid[]) and q.dispatch_paused_at is null
        and (j.state = 'scheduled'
          or (j.state = 'reserved' and j.reserved_by = ${stackId} and j.deadline_at > ${at}))
      for update of j skip locked
    ), taken as (
      update jobs j set state = 'reserved', reserved_by = ${stackId},
        deadline_at = ${at}::timestamptz + make_interval(secs => ${seconds})
      from free where j.id = free.id
      returning j.*, free.state as state_before
    ), told as (
      insert into events (organization_id, pipeline_id, build_id, job_id, kind, data, created_at)
      select organization_id, pipeline_id, build_id, id, 'job.state_changed',
        jsonb_build_object('from', state_before, 'to', state, 'step_id', step_id, 'news', '[]'::jsonb), ${at}
      from taken where state_before <> state
    )
    select id from taken`.execute(ctx.db)
  return rows.map(({ id }) => id)
}
