// Reads from the tables why a job waits.
import { sql } from 'kysely'
import type { EdgeRow, StepRow } from '@millrace/engine/rows.ts'
import { holdsSlot, JOB_STATES } from '@millrace/engine/states.ts'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { visiblePipelines } from '../../../auth/pipeline-access.ts'
import { isEligible } from '../../../conductor/dispatch/eligible.ts'
import { selectFields, stepColumns } from '../../../conductor/rows.ts'
import type { Db } from '../../../db/pool.ts'
import type { FairBy } from '../../job/waiting-reason.ts'
import { userJson, type UserRow } from '../../people/user/queries.ts'

export interface WaitingJob {
  id: string
  build_id: string
  step_id: string
  kind: string
  state: string
  unblockable: boolean
  cluster_id: string | null
  queue_id: string | null
  agent_query_rules: string[]
  concurrency_group: string | null
  concurrency_limit: number | null
  concurrency_method: string | null
  /** It has other slots than trusted jobs of the same group. */
  untrusted: boolean
}

export async function findWaiting(db: Db, orgId: string, id: string): Promise<WaitingJob | undefined> {
  const { rows } = await sql<WaitingJob>`
    select id, build_id, step_id, kind, state, unblockable, cluster_id, queue_id, agent_query_rules, concurrency_group,
      concurrency_limit, concurrency_method, untrusted
    from jobs where organization_id = ${orgId} and id = ${id}`.execute(db)
  return rows[0]
}

type SourceStep = StepRow & { name: string | null; edge: EdgeRow }

/** The steps that a step depends on; behind a wait, those the wait depends on. */
export async function listSources(db: Db, orgId: string, stepId: string): Promise<SourceStep[]> {
  const { rows } = await sql<SourceStep>`
    with recursive waiting (id) as (
      select ${stepId}::uuid
      union
      select s.id from waiting w join build_edges e on e.to_step = w.id join build_steps s on s.id = e.from_step
      where s.kind = 'wait' and s.phase = 'waiting'
    )
    select ${selectFields('s', stepColumns)}, s.definition ->> 'label' as name,
      json_build_object('from', e.from_step, 'to', e.to_step, 'kind', e.kind, 'allowFailure', e.allow_failure,
        'whole', e.whole) as edge
    from waiting w join build_edges e on e.to_step = w.id join build_steps s on s.id = e.from_step
    where s.organization_id = ${orgId} and not (s.kind = 'wait' and s.phase = 'waiting')
    order by s.position`.execute(db)
  return rows
}

export async function listMissingKeys(db: Db, orgId: string, stepId: string): Promise<string[]> {
  const { rows } = await sql<{ ref: string }>`
    select r.ref from build_refs r join build_steps s on s.id = r.step_id
    where s.organization_id = ${orgId} and r.step_id = ${stepId} order by r.ref`.execute(db)
  return rows.map(({ ref }) => ref)
}

interface OpenBlock {
  id: string
  step_key: string | null
  name: string | null
  unblockable: boolean
}

/** The block and input jobs that a step depends on, directly or not, and that are not unblocked. */
export async function listBlocks(
  db: Db,
  orgId: string,
  buildId: string,
  stepId: string,
): Promise<OpenBlock[]> {
  const { rows } = await sql<OpenBlock>`
    with recursive above (id) as (
      select ${stepId}::uuid
      union
      select n.id from above a join (
        select e.to_step as below, e.from_step as id from build_steps s join build_edges e on e.to_step = s.id
        where s.build_id = ${buildId} and s.phase in ('waiting', 'blocked')
        union all
        select u.uploader_id, u.id from build_steps u where u.build_id = ${buildId} and u.uploader_id is not null
      ) n on n.below = a.id
    )
    select j.id, j.step_key, j.work ->> 'label' as name, j.unblockable
    from above a join jobs j on j.step_id = a.id
    where j.organization_id = ${orgId} and j.kind = 'manual' and j.state = 'blocked' and j.step_id <> ${stepId}
    order by j.unblockable desc, j.position`.execute(db)
  return rows
}

interface SlotHolder {
  id: string
  step_key: string | null
  name: string | null
  state: string
  pipeline_slug: string
  build_number: number
  is_visible: boolean
}

export async function listSlotHolders(
  db: Db,
  org: Organization,
  caller: Caller,
  job: WaitingJob,
): Promise<SlotHolder[]> {
  const { rows } = await sql<SlotHolder>`
    select j.id, j.step_key, j.work ->> 'label' as name, j.state, p.slug as pipeline_slug, b.number as build_number,
      ${visiblePipelines(org, caller)} as is_visible
    from jobs j join builds b on b.id = j.build_id join pipelines p on p.id = b.pipeline_id
    where j.organization_id = ${org.id} and j.concurrency_group = ${job.concurrency_group}
      and j.untrusted = ${job.untrusted} and j.finished_at is null and j.state = any (${JOB_STATES.filter(holdsSlot)}::text[])
    order by j.started_at nulls last, j.scheduled_at, j.id`.execute(db)
  return rows
}

/** Jobs in front of this one in its concurrency group that hold no slot. */
export async function countAheadInGroup(db: Db, orgId: string, id: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count
    from jobs me join builds mine on mine.id = me.build_id
    join jobs j on j.organization_id = me.organization_id and j.concurrency_group = me.concurrency_group
      and j.untrusted = me.untrusted
    join builds b on b.id = j.build_id
    where me.organization_id = ${orgId} and me.id = ${id} and j.finished_at is null and j.retried_in_job_id is null
      and j.state in ('limiting', 'limited', 'waiting')
      and (j.scheduled_at, b.created_at, j.build_id, j.position, j.id)
        < (me.scheduled_at, mine.created_at, me.build_id, me.position, me.id)`.execute(db)
  return rows[0]?.count ?? 0
}

export interface QueueOfJob {
  id: string
  key: string
  dispatch_paused_at: string | null
  dispatch_paused_by: UserRow | null
  dispatch_paused_note: string | null
  fair_by: FairBy
  /** null: served by agents that people run themselves. */
  instance_shape: string | null
}

/** The hosted agent for the job; undefined: none was planned yet. */
export async function findHostedAgent(
  db: Db,
  orgId: string,
  jobId: string,
): Promise<{ last_error: string | null } | undefined> {
  return db
    .selectFrom('hosted_agents')
    .select('last_error')
    .where('organization_id', '=', orgId)
    .where('job_id', '=', jobId)
    .executeTakeFirst()
}

/** The agent images of the job's cluster that can be run, by name. */
export async function listReadyImages(db: Db, orgId: string, clusterId: string | null): Promise<string[]> {
  if (clusterId === null) return []
  const rows = await db
    .selectFrom('agent_images')
    .select('name')
    .where('organization_id', '=', orgId)
    .where('cluster_id', '=', clusterId)
    .where('status', '=', 'READY')
    .execute()
  return rows.map(({ name }) => name)
}

export async function findQueue(db: Db, orgId: string, id: string): Promise<QueueOfJob | undefined> {
  const { rows } = await sql<QueueOfJob>`
    select q.id, q.key, q.dispatch_paused_at, q.dispatch_paused_note, q.fair_by, q.instance_shape,
      ${userJson('pauser')} as dispatch_paused_by
    from cluster_queues q left join users pauser on pauser.id = q.dispatch_paused_by
    where q.organization_id = ${orgId} and q.id = ${id}`.execute(db)
  return rows[0]
}

/** Jobs of the same queue that are assigned before this one. */
export async function countAheadInQueue(db: Db, orgId: string, id: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count
    from jobs me join jobs j on j.queue_id = me.queue_id and j.state = 'scheduled' and j.id <> me.id
    where me.organization_id = ${orgId} and me.id = ${id}
      and (j.untrusted, -j.priority::bigint, j.scheduled_at, j.position, j.id)
        < (me.untrusted, -me.priority::bigint, me.scheduled_at, me.position, me.id)`.execute(db)
  return rows[0]?.count ?? 0
}

/** Connected agents of the queue that satisfy the rules and may take jobs. */
export async function countEligibleAgents(
  db: Db,
  orgId: string,
  queueId: string,
  rules: readonly string[],
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from agents a
    where a.organization_id = ${orgId} and a.queue_id = ${queueId}
      and ${isEligible(sql`${[...rules]}::text[]`)}`.execute(db)
  return rows[0]?.count ?? 0
}
