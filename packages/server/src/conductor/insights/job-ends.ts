// Notes the jobs that have ended, in the transaction that ends them. resources/insights/insights/fold.ts counts them.
import { sql } from 'kysely'
import type { JobState } from '@millrace/engine/states.ts'
import { prepared, type Statement } from '../../db/statement.ts'

/** Jobs that started always end in one of the first four. A job that expired has waited for nothing. */
const counted: ReadonlySet<JobState> = new Set(['passed', 'failed', 'timed_out', 'canceled', 'expired'])

/** Of the moves of a build. The jobs' rows are changed already. */
export function noteJobEnds(
  organizationId: string,
  moves: ReadonlyArray<{ jobId: string; to: JobState }>,
): Statement[] {
  const ended = moves.filter(({ to }) => counted.has(to)).map(({ jobId }) => jobId)
  const [first] = ended
  if (first === undefined) return []
  return [ended.length === 1 ? noteOne(organizationId, first) : noteMany(organizationId, ended)]
}

const noteOne = prepared((organizationId: string, jobId: string) =>
  noting(organizationId, sql`j.id = ${jobId}`),
)

const noteMany = prepared((organizationId: string, jobIds: string[]) =>
  noting(organizationId, sql`j.id = any (${jobIds}::uuid[])`),
)

const noting = (organizationId: string, isEnded: ReturnType<typeof sql>) => sql`
  insert into job_ends (organization_id, job_id, build_id, pipeline_id, queue_id, creator_id, step, ended_at, has_failed, is_retry,
    wait_ms, run_ms, price_micros)
  select j.organization_id, j.id, j.build_id, j.pipeline_id, j.queue_id,
    coalesce(j.charged_user_id, b.charged_user_id, b.creator_id),
    left(coalesce(nullif(j.step_key, ''), nullif(j.work ->> 'label', ''), nullif(j.work ->> 'command', ''), ''), 200),
    j.finished_at, j.state in ('failed', 'timed_out', 'expired') and not j.soft_failed, j.retry_source_job_id is not null,
    (extract(epoch from coalesce(j.started_at, j.finished_at) - j.runnable_at) * 1000)::bigint,
    (extract(epoch from j.finished_at - j.started_at) * 1000)::bigint,
    coalesce(q.price_micros, 0)
  from jobs j join builds b on b.id = j.build_id left join cluster_queues q on q.id = j.queue_id
  where j.organization_id = ${organizationId} and ${isEnded} and j.kind = 'script'
    and (j.started_at is not null or j.state = 'expired')
  on conflict do nothing`
