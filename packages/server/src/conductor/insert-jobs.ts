// Inserts new jobs: the engine's row, the job's work, and the values from its step, its pipeline and its cluster.
import { sql } from 'kysely'
import type { NewJob } from '@millrace/engine/plan/jobs.ts'
import { timeoutMinutes, type TimeLimits } from '@millrace/engine/timeouts.ts'
import type { JobWork } from '@millrace/engine/work.ts'
import type { Timers } from '../config/timers.ts'
import type { Statement } from '../db/statement.ts'
import { shareKey } from './shares/share-key.ts'
import { columnName, jobColumns, onRows } from './rows.ts'
import type { Inherited, Scope } from './scope.ts'
import { deadline, waits } from './timers.ts'

const fields = Object.keys(jobColumns)
const own = sql.raw(fields.map(columnName).join(', '))
const fromNew = sql.raw(fields.map((field) => `n."${field}"`).join(', '))
const types = { work: 'jsonb', copyOf: 'uuid', timeoutMinutes: 'int', queueKey: 'text', ...jobColumns }

export function insertJobs(
  jobs: readonly NewJob[],
  {
    clusterId,
    defaultQueueId,
    timeouts,
    isUntrusted,
    chargedUserId,
    chargedPipelineId,
    isMachine,
    retriedByUserId = null,
  }: Inherited,
  {
    scope: { organizationId, pipelineId, buildId },
    timers,
    at,
  }: { scope: Scope; timers: Timers; at: string },
): Statement {
  const rows = jobs.map(({ row, work }) => ({
    ...row,
    ...(work.kind === 'copy' ? { copyOf: work.of } : { work, ...scriptFields(work, timeouts) }),
  }))
  return insert(
    rows,
    organizationId,
    pipelineId,
    buildId,
    clusterId,
    defaultQueueId,
    isUntrusted,
    chargedUserId,
    chargedPipelineId,
    isMachine,
    retriedByUserId,
    at,
    ...waits(timers),
  )
}

// A retry copies the values of the job it replaces; any other job finds its queue by the key in its rules.
const insert = onRows(
  'n',
  types,
  (
    rows,
    organizationId: string,
    pipelineId: string,
    buildId: string,
    clusterId: string | null,
    defaultQueueId: string | null,
    isUntrusted: boolean,
    chargedUserId: string | null,
    chargedPipelineId: string,
    isMachine: boolean,
    retriedByUserId: string | null,
    at: string,
    expiryMinutes: number,
    acceptSeconds: number,
    cancelGraceSeconds: number,
    runningMinutes: number,
  ) => sql`
    insert into jobs as j (organization_id, pipeline_id, build_id, position, work, step_key, group_key, cluster_id, queue_id,
      agent_query_rules, priority, untrusted, charged_user_id, is_machine, share_key, timeout_minutes, concurrency_limit, concurrency_method, deadline_at, limited_at, ${own})
    select ${organizationId}, ${pipelineId}, ${buildId},
      s.position || '.' || lpad(n.slot::text, 5, '0'), coalesce(old.work, n.work), s.key, g.key,
      case when n.kind = 'script' then ${clusterId}::uuid end,
      case when n.kind = 'script' then coalesce(old.queue_id, q.id) end,
      coalesce(old.agent_query_rules, array(select jsonb_array_elements_text(n.work -> 'agents')), '{}'),
      coalesce(old.priority, (n.work ->> 'priority')::int, 0), ${isUntrusted}::boolean,
      coalesce(old.charged_user_id, ${retriedByUserId}::uuid), coalesce(old.is_machine, ${isMachine}::boolean),
      ${shareKey({
        organizationId: sql`t.organization_id`,
        userId: sql`coalesce(old.charged_user_id, ${chargedUserId}::uuid)`,
        pipelineId: sql`${chargedPipelineId}::uuid`,
      })},
      t.timeout_minutes, coalesce(old.concurrency_limit, (n.work #>> '{concurrency,limit}')::int),
      coalesce(old.concurrency_method, n.work #>> '{concurrency,method}'),
      ${deadline(sql`n.state`, { at, waits: [expiryMinutes, acceptSeconds, cancelGraceSeconds, runningMinutes], job: sql`t` })},
      case when n.state = 'limited' then ${at}::timestamptz end, ${fromNew}
    from ${rows}
    join build_steps s on s.id = n."stepId"
    left join build_steps g on g.id = s.group_id
    left join jobs old on old.id = n."copyOf"
    cross join lateral (
      select ${organizationId}::uuid as organization_id, coalesce(old.timeout_minutes, n."timeoutMinutes") as timeout_minutes,
        n."createdAt" as created_at) t
    left join cluster_queues q on q.cluster_id = ${clusterId}::uuid
      and case when old.queue_id is not null then q.id = old.queue_id
        when n."queueKey" is null then q.id = ${defaultQueueId}::uuid else q.key = n."queueKey" end
      and n.kind = 'script'`,
)

function scriptFields(work: JobWork, limits: TimeLimits): Record<string, unknown> {
  if (work.kind !== 'script') return {}
  return {
    timeoutMinutes: timeoutMinutes(work.timeoutMinutes, limits),
    queueKey: queueKey(work.agents),
  }
}

/** The queue that the rules name; null: the cluster's default one. */
export function queueKey(rules: readonly string[]): string | null {
  const rule = rules.find((text) => text.startsWith('queue='))
  return rule === undefined ? null : rule.slice('queue='.length)
}
