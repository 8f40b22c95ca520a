// Turns passed deadlines into events, and carries out follow-ups that a dead process left undone. Runs every few seconds
// on every worker. Each case is handled in its own transaction, where the engine refuses it if another worker was faster. One
// that fails delays no other.
import { sql, type RawBuilder } from 'kysely'
import { SLOT_JOB_STATES, type JobState } from '@millrace/engine/states.ts'
import type { Context } from '../context.ts'
import { batch } from '../db/batch.ts'
import { eachRowApart, mayBeTried } from '../db/each-row.ts'
import { act, carryOutApart } from './act.ts'
import type { UntimedEvent, FollowUp } from './advance.ts'
import type { Group } from './concurrency.ts'

const most = 200

export async function sweep(ctx: Context): Promise<void> {
  await passDeadlines(ctx)
  const undone = await findUndone(ctx)
  await eachRowApart(ctx, 'follow_ups', undone, idOf, (followUp) => carryOutApart(ctx, followUp))
}

type Time = string | RawBuilder<unknown>

const overdueJobs = (at: Time) => sql<{
  id: string
  build_id: string
  organization_id: string
  state: JobState
}>`
  select id, build_id, organization_id, state from jobs
  where deadline_at <= ${at} and ${mayBeTried('deadlines', sql`jobs.id::text`, at)}
  order by deadline_at limit ${sql.lit(most)}`

async function passDeadlines(ctx: Context): Promise<void> {
  const { rows } = await overdueJobs(ctx.now().toISOString()).execute(ctx.db)
  const pass = async (job: (typeof rows)[number]): Promise<void> => {
    if (!hasDeadline(job.state)) return
    await act(ctx, job.organization_id, job.build_id, { type: deadlineEvents[job.state], jobId: job.id })
  }
  await eachRowApart(ctx, 'deadlines', rows, ({ id }) => id, pass)
}

/** The event of a passed deadline, by the job's state. */
const deadlineEvents = {
  scheduled: 'expire',
  reserved: 'give_back',
  assigned: 'give_back',
  accepted: 'give_back',
  running: 'time_out',
  canceling: 'give_up_on_agent',
  timing_out: 'give_up_on_agent',
} as const satisfies Partial<Record<JobState, UntimedEvent['type']>>

const hasDeadline = (state: JobState): state is keyof typeof deadlineEvents => state in deadlineEvents

/** Only follow-ups that are some seconds old, because younger ones may be under way. */
const undoneSeconds = 5

async function findUndone(ctx: Context): Promise<FollowUp[]> {
  const before = new Date(ctx.now().getTime() - undoneSeconds * 1000).toISOString()
  const [childless, unreported, reopened, abandoned, groups, superseding] = await batch(
    ctx.db,
    undone(before, ctx.now().toISOString()),
  )
  return [
    ...childless.map((found) => ({ kind: 'create_child' as const, ...found })),
    ...[...unreported, ...reopened].map((found) => ({ kind: 'report_to_parent' as const, ...found })),
    ...abandoned.map((found) => ({ kind: 'cancel_child' as const, ...found })),
    ...groups.map((found) => ({ kind: 'decide_slots' as const, ...found })),
    ...superseding.map((found) => ({ kind: 'supersede' as const, ...found })),
  ]
}

/** As the queries below write it. */
function idOf(followUp: FollowUp): string {
  switch (followUp.kind) {
    case 'create_child':
    case 'report_to_parent':
      return `${followUp.kind} ${followUp.jobId}`
    case 'cancel_child':
      return `cancel_child ${followUp.childId}`
    case 'decide_slots':
      return `decide_slots ${followUp.organizationId} ${followUp.untrusted} ${followUp.group}`
    case 'supersede':
      return `supersede ${followUp.buildId}`
  }
}

const isFollowUpToTry = (id: RawBuilder<unknown>, at: Time) => mayBeTried('follow_ups', id, at)

/** `now` is the time of the sweep. */
const undone = (before: Time, now: Time) =>
  [
    sql<{ organizationId: string; buildId: string; jobId: string }>`
      select organization_id as "organizationId", build_id as "buildId", id as "jobId" from jobs
      where kind = 'trigger' and state = 'running' and triggered_build_id is null and finished_at is null
        and started_at <= ${before} and ${isFollowUpToTry(sql`'create_child ' || jobs.id`, now)} limit ${sql.lit(most)}`,
    sql<{ organizationId: string; childId: string; jobId: string }>`
      select j.organization_id as "organizationId", j.triggered_build_id as "childId", j.id as "jobId"
      from jobs j left join (builds c join pipelines p on p.id = c.pipeline_id) on c.id = j.triggered_build_id
      where j.kind = 'trigger' and j.state = 'running' and j.finished_at is null and j.triggered_build_id is not null
        and (c.id is null or c.finished_at <= ${before})
        and ${isFollowUpToTry(sql`'report_to_parent ' || j.id`, now)} limit ${sql.lit(most)}`,
    sql<{ organizationId: string; childId: string; jobId: string }>`
      select c.organization_id as "organizationId", c.id as "childId", j.id as "jobId"
      from builds c join jobs j on j.id = c.triggered_from_job_id
      where c.state in ('scheduled', 'running', 'failing') and c.triggered_from_job_id is not null
        and j.state = 'failed' and j.triggered_build_id = c.id and j.retried_in_job_id is null
        and j.finished_at <= ${before} and ${isFollowUpToTry(sql`'report_to_parent ' || j.id`, now)} limit ${sql.lit(most)}`,
    sql<{ organizationId: string; childId: string }>`
      select c.organization_id as "organizationId", c.id as "childId"
      from jobs j join builds c on c.id = j.triggered_build_id
      where j.kind = 'trigger' and j.state = 'canceled' and j.finished_at between ${before}::timestamptz - interval '1 hour' and ${before}::timestamptz
        and c.state in ('scheduled', 'running', 'failing', 'blocked')
        and ${isFollowUpToTry(sql`'cancel_child ' || c.id`, now)} limit ${sql.lit(most)}`,
    undecidedGroups(before, now),
    sql<{ organizationId: string; buildId: string }>`
      select organization_id as "organizationId", build_id as "buildId" from superseding_builds
      where since <= ${before} and ${isFollowUpToTry(sql`'supersede ' || build_id`, now)} limit ${sql.lit(most)}`,
  ] as const

const mostGroups = 50

/**
 * Groups whose slots may have to be decided: a job was not looked at yet, a slot is free for one that waits, or one has had its
 * slot for some time and no agent has come, so that others may get it. Those whose slots are all in use are left alone, however
 * many there are. In a random order, because a job in front of the others may keep a group undecided for long.
 */
export const undecidedGroups = (before: Time, now: Time) => sql<Group>`
  select organization_id as "organizationId", concurrency_group as "group", untrusted from jobs
  where concurrency_group is not null and finished_at is null and retried_in_job_id is null
    and ${isFollowUpToTry(sql`'decide_slots ' || organization_id || ' ' || untrusted::text || ' ' || concurrency_group`, now)}
  group by organization_id, concurrency_group, untrusted
  having bool_or(state = 'limiting')
    or max(concurrency_limit) filter (where state = 'limited') > count(*) filter (where state in (${slotStates}))
    or (bool_or(state = 'limited') and bool_or(state = 'scheduled' and runnable_at <= ${before}))
  order by random() limit ${sql.lit(mostGroups)}`

const slotStates = sql.join([...SLOT_JOB_STATES].map((state) => sql.lit(state)))

const exists = (rows: RawBuilder<unknown>) => sql`exists (${rows})`

/** For tasks/pauses.ts. */
export const deadlines = sql<string | null>`select deadline_at from jobs where deadline_at is not null`

/** Whether `sweep` has something to do. */
export const hasSweep = sql<boolean>`(${sql.join(
  [
    overdueJobs(sql`now()`),
    ...undone(sql`(now() - make_interval(secs => ${sql.lit(undoneSeconds)}))`, sql`now()`),
  ].map(exists),
  sql` or `,
)})`
