// A stack reserves jobs while it starts agents for them; no other agent is offered them meanwhile. An agent acquires such
// a job by its id. If none does so before the deadline, sweep.ts makes the job scheduled again. Like claim.ts this
// updates only the rows of these jobs: `reserved` counts like `scheduled` everywhere, so no counter changes.
import { sql } from 'kysely'
import type { Context } from '../../context.ts'

interface Reservation {
  organizationId: string
  clusterId: string
  stackId: string
  seconds: number
}

/** Returns the jobs that the stack has now. For jobs it had already, the time begins again, unless it is over. */
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
    ), reserved as (
      update jobs j set state = 'reserved', reserved_by = ${stackId},
        deadline_at = ${at}::timestamptz + make_interval(secs => ${seconds})
      from free where j.id = free.id
      returning j.*, free.state as state_before
    ), published as (
      insert into events (organization_id, pipeline_id, build_id, job_id, kind, data, created_at)
      select organization_id, pipeline_id, build_id, id, 'job.state_changed',
        jsonb_build_object('from', state_before, 'to', state, 'step_id', step_id, 'event_names', '[]'::jsonb), ${at}
      from reserved where state_before <> state
    )
    select id from reserved`.execute(ctx.db)
  return rows.map(({ id }) => id)
}
