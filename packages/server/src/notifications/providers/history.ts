// The jobs of a build up to one of its ends. A build may end several times: it is blocked and then continues, or a job is
// retried. The time up to each end is a stage, and each job that ended belongs to one stage. These rows do not change any
// more, so every attempt of a delivery reads the same. Old events are deleted: for a build that continues long after an end,
// the oldest event that is left tells of that end, so that its stages keep different numbers.
import { sql } from 'kysely'
import type { Db } from '../../db/pool.ts'
import type { Message } from '../messages/message.ts'
import { DeliveryFailed } from '../provider.ts'

interface PastStage {
  /** From 1. */
  number: number
  startedAt: string
  endedAt: string
  /** How many ends before this one were not blocks. */
  verdictsBefore: number
}

export interface PastJob {
  id: string
  kind: string
  state: string
  name: string
  command: string | null
  step: PastStep
  /** The group step that contains the step. */
  group: PastStep | null
  startedAt: string
  finishedAt: string
  runnableAt: string | null
  exitStatus: number | null
  signal: string | null
  signalReason: string | null
  softFailed: boolean
  parallelIndex: number | null
  parallelTotal: number | null
  retryOf: { jobId: string; type: string | null } | null
  triggeredBuildId: string | null
  webUrl: string
  agent: { id: string; name: string } | null
  queue: string | null
}

export interface PastStep {
  id: string
  key: string | null
  label: string | null
}

export interface History {
  stage: PastStage
  /** Jobs that ended in the stage, in the order of the build; without wait steps and jobs that never ran. */
  jobs: PastJob[]
  /** The trigger job that created the build. */
  triggeredBy: { buildId: string; jobId: string } | null
}

/** For a message about the end of a build. */
export async function getHistory(
  db: Db,
  orgId: string,
  { build: shown, occurredAt: endedAt }: Message,
): Promise<History> {
  const build = { id: String(shown?.['id']), web_url: String(shown?.['web_url']) }
  const { rows } = await sql<PastStage & { triggeredBy: History['triggeredBy']; from: string | null }>`
    with changes as (
      select e.id, e.created_at as at, e.data ->> 'from' as "from", e.data ->> 'to' as "to",
        e.data -> 'event_names' ?| array['build.finished', 'build.blocked'] as is_end
      from events e
      where e.build_id = ${build.id} and e.kind = 'build.state_changed' and e.created_at < ${endedAt}
    ), ends as (
      select id, at, "to" <> 'blocked' as is_verdict from changes where is_end
      union all
      select id - 1, at - interval '1 millisecond', "from" <> 'blocked'
      from (select * from changes order by id limit 1) oldest
      where "from" in ('blocked', 'passed', 'failed', 'not_run')
    ), before as (
      select count(*)::int as count, count(*) filter (where is_verdict)::int as verdicts, max(id) as id, max(at) as at
      from ends
    )
    select before.count + 1 as number, before.verdicts as "verdictsBefore", before.at as "from",
      ${endedAt}::timestamptz as "endedAt",
      coalesce((
        select min(e.created_at) from events e where e.build_id = b.id and e.id > before.id
      ), least(b.started_at, ${endedAt}::timestamptz), b.created_at) as "startedAt",
      (select json_build_object('buildId', j.build_id, 'jobId', j.id) from jobs j
        where j.id = b.triggered_from_job_id and j.organization_id = b.organization_id) as "triggeredBy"
    from builds b cross join before
    where b.organization_id = ${orgId} and b.id = ${build.id}`.execute(db)
  const [row] = rows
  if (row === undefined) throw new DeliveryFailed('The build is gone.', { isFinal: true })
  const { triggeredBy, from, ...stage } = row
  return { stage, jobs: await listJobs(db, orgId, build, from, endedAt), triggeredBy }
}

async function listJobs(
  db: Db,
  orgId: string,
  build: { id: string; web_url: string },
  from: string | null,
  to: string,
): Promise<PastJob[]> {
  const step = (name: string) => sql`json_build_object('id', ${sql.ref(`${name}.id`)},
    'key', ${sql.ref(`${name}.key`)}, 'label', ${sql.ref(`${name}.definition`)} ->> 'label')`
  const { rows } = await sql<PastJob>`
    select j.id, j.kind, j.state, j.work ->> 'command' as command, ${step('s')} as step,
      coalesce(j.work ->> 'label', j.work ->> 'command', j.work ->> 'pipeline', j.step_key, j.kind) as name,
      case when g.id is not null then ${step('g')} end as "group",
      least(coalesce(j.started_at, j.runnable_at, j.created_at), j.finished_at) as "startedAt",
      j.finished_at as "finishedAt", j.runnable_at as "runnableAt", j.exit_status as "exitStatus", j.signal,
      j.signal_reason as "signalReason", j.soft_failed as "softFailed",
      (j.work -> 'parallel' ->> 'index')::int as "parallelIndex",
      (j.work -> 'parallel' ->> 'total')::int as "parallelTotal",
      case when j.retry_source_job_id is not null
        then json_build_object('jobId', j.retry_source_job_id, 'type', j.retry_source_type) end as "retryOf",
      j.triggered_build_id as "triggeredBuildId", ${`${build.web_url}#`}::text || j.id as "webUrl",
      case when a.id is not null then json_build_object('id', a.id, 'name', a.name) end as agent, q.key as queue
    from jobs j join build_steps s on s.id = j.step_id
    left join build_steps g on g.id = s.group_id
    left join agents a on a.id = j.agent_id
    left join cluster_queues q on q.id = j.queue_id
    where j.organization_id = ${orgId} and j.build_id = ${build.id} and j.kind <> 'waiter'
      and j.state not in ('broken', 'skipped')
      and j.finished_at <= ${to} and (${from}::timestamptz is null or j.finished_at > ${from}::timestamptz)
    order by j.position, j.created_at, j.id`.execute(db)
  return rows
}

export const spanOf = (jobs: readonly [PastJob, ...PastJob[]]): { startedAt: string; endedAt: string } => ({
  startedAt: jobs.reduce(
    (least, { startedAt }) => (startedAt < least ? startedAt : least),
    jobs[0].startedAt,
  ),
  endedAt: jobs.reduce((most, { finishedAt }) => (finishedAt > most ? finishedAt : most), jobs[0].finishedAt),
})

export type Result = 'success' | 'failure' | 'cancellation' | 'timeout'

export function resultOf({ state, softFailed }: Pick<PastJob, 'state' | 'softFailed'>): Result {
  if (state === 'canceled') return 'cancellation'
  if (softFailed) return 'success'
  if (state === 'timed_out' || state === 'expired') return 'timeout'
  return ['failed', 'unblocked_failed', 'blocked_failed', 'waiting_failed'].includes(state)
    ? 'failure'
    : 'success'
}

/** The worst result, without jobs that were retried. */
export function resultOfAll(jobs: readonly PastJob[]): Result {
  const replaced = new Set(jobs.flatMap(({ retryOf }) => retryOf?.jobId ?? []))
  const results = new Set(jobs.filter(({ id }) => !replaced.has(id)).map(resultOf))
  return worst.find((result) => results.has(result)) ?? 'success'
}

const worst: readonly Result[] = ['failure', 'timeout', 'cancellation']
