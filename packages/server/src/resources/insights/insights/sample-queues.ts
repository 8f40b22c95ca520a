// Notes each minute how busy the queues are. A minute counts once, whichever process notes it.
import { sql } from 'kysely'
import type { Context } from '../../../context.ts'

/** Queues without agents and without jobs get no row. */
export async function sampleQueues(ctx: Context): Promise<void> {
  const minute = new Date(Math.floor(ctx.now().getTime() / 60_000) * 60_000).toISOString()
  await sql`
    with jobs_by_queue as (
      select queue_id, count(*) filter (where state = 'scheduled') as waiting,
        count(*) filter (where state in ('running', 'timing_out', 'canceling')) as running
      from jobs
      where finished_at is null and queue_id is not null
        and state in ('scheduled', 'running', 'timing_out', 'canceling')
      group by queue_id
    ), agents_by_queue as (
      select a.queue_id, count(*) as connected, count(*) filter (where exists (
        select from jobs j where j.agent_id = a.id
          and j.state in ('assigned', 'accepted', 'running', 'timing_out', 'canceling'))) as busy
      from agents a where a.queue_id is not null and a.connection_state in ('connected', 'stopping')
      group by a.queue_id
    ), sampled as (
      select q.organization_id, q.id as queue_id, coalesce(j.waiting, 0) as waiting, coalesce(j.running, 0) as running,
        coalesce(a.connected, 0) as connected, coalesce(a.busy, 0) as busy
      from cluster_queues q left join jobs_by_queue j on j.queue_id = q.id left join agents_by_queue a on a.queue_id = q.id
      where j.waiting > 0 or j.running > 0 or a.connected > 0
    ), noted as (
      insert into queue_samples (organization_id, queue_id, unit, starts_at, minutes, waiting, running, connected, busy)
      select organization_id, queue_id, 'minute', ${minute}::timestamptz, 1, waiting, running, connected, busy from sampled
      on conflict do nothing returning *
    )
    insert into queue_samples as r (organization_id, queue_id, unit, starts_at, minutes, waiting, running, connected, busy)
    select n.organization_id, n.queue_id, u.unit, date_trunc(u.unit, n.starts_at, 'UTC'), 1, waiting, running, connected, busy
    from noted n cross join (values ('hour'), ('day')) as u (unit)
    order by n.queue_id, u.unit
    on conflict (queue_id, unit, starts_at) do update set minutes = r.minutes + 1, waiting = r.waiting + excluded.waiting,
      running = r.running + excluded.running, connected = r.connected + excluded.connected, busy = r.busy + excluded.busy`.execute(
    ctx.db,
  )
}
