// New jobs: the engine's row, what the job does, and what it takes from its step, its pipeline and its cluster.
import { sql } from 'kysely'
import type { NewJob } from '@millrace/engine/plan/jobs.ts'
import { timeoutMinutes, type TimeLimits } from '@millrace/engine/timeouts.ts'
import type { JobWork } from '@millrace/engine/work.ts'
import type { Statement } from '../db/together.ts'
import { columnName, jobColumns, rowsOf, snakeCase } from './rows.ts'
import type { Saving } from './save.ts'
import { deadline } from './timers.ts'

const fields = Object.keys(jobColumns).map(columnName)
const typed = Object.entries(jobColumns).map(([field, type]) => `${columnName(field)} ${type}`)
const own = sql.raw(fields.join(', '))
const fromNew = sql.raw(fields.map((field) => `n.${field}`).join(', '))
const shape = `n (${['work jsonb', 'copy_of uuid', 'timeout_minutes int', 'queue_key text', ...typed].join(', ')})`

export function insertJobs(jobs: readonly NewJob[], { scope, timers, at }: Saving): Statement {
  const rows = jobs.map(({ row, work }) => ({
    ...snakeCase(row),
    ...(work.kind === 'copy' ? { copy_of: work.of } : { work, ...scriptFields(work, scope.timeouts) }),
  }))
  const state = sql`n.state`
  // A retry takes over what the job it replaces was given; any other job finds its queue by the key its rules name.
  return sql`
    insert into jobs as j (organization_id, pipeline_id, build_id, position, work, step_key, group_key, cluster_id, queue_id,
      agent_query_rules, priority, timeout_minutes, concurrency_limit, concurrency_method, deadline_at, limited_at, ${own})
    select ${scope.organizationId}, ${scope.pipelineId}, ${scope.buildId},
      s.position || '.' || lpad(n.slot::text, 5, '0'), coalesce(old.work, n.work), s.key, g.key,
      case when n.kind = 'script' then ${scope.clusterId}::uuid end,
      case when n.kind = 'script' then coalesce(old.queue_id, q.id) end,
      coalesce(old.agent_query_rules, array(select jsonb_array_elements_text(n.work -> 'agents')), '{}'),
      coalesce(old.priority, (n.work ->> 'priority')::int, 0),
      t.timeout_minutes, coalesce(old.concurrency_limit, (n.work #>> '{concurrency,limit}')::int),
      coalesce(old.concurrency_method, n.work #>> '{concurrency,method}'),
      ${deadline(timers, scope.expiryMinutes, at, state, sql`t`)},
      case when n.state = 'limited' then ${at}::timestamptz end, ${fromNew}
    from ${rowsOf(rows, shape)}
    join build_steps s on s.id = n.step_id
    left join build_steps g on g.id = s.group_id
    left join jobs old on old.id = n.copy_of
    cross join lateral (select coalesce(old.timeout_minutes, n.timeout_minutes) as timeout_minutes, n.created_at) t
    left join cluster_queues q on q.cluster_id = ${scope.clusterId}::uuid
      and case when n.queue_key is null then q.id = ${scope.defaultQueueId}::uuid else q.key = n.queue_key end`
}

function scriptFields(work: JobWork, limits: TimeLimits): Record<string, unknown> {
  if (work.kind !== 'script') return {}
  return {
    timeout_minutes: timeoutMinutes(work.timeoutMinutes, limits),
    queue_key: queueKey(work.agents),
  }
}

/** The queue that the rules name; null: the cluster's default one. */
export function queueKey(rules: readonly string[]): string | null {
  const rule = rules.find((text) => text.startsWith('queue='))
  return rule === undefined ? null : rule.slice('queue='.length)
}
