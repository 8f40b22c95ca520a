// Every state change becomes one row of `events`, in the transaction of the change. The row also names the events that
// notifications are sent for (`job.finished`, `build.failing`), under the key `event_names`.
import { sql } from 'kysely'
import type { Effect } from '@millrace/engine/advance/effects.ts'
import type { Statement } from '../db/statement.ts'
import { publishAgentsOf } from '../events/agents.ts'
import { onRows } from './rows.ts'
import type { JobMove } from './save.ts'
import type { Scope } from './scope.ts'

interface EventRow {
  kind: string
  job_id: string | null
  data: Record<string, unknown>
}

/** `reason`: why a job promised to fail. */
export function appendEvents(
  scope: Scope,
  at: string,
  effects: readonly Effect[],
  reason: string | null,
): Statement[] {
  const rows = eventRows(effects, reason)
  if (rows.length === 0) return []
  return [insertEvents(rows, scope.organizationId, scope.pipelineId, scope.buildId, at)]
}

/** For agents whose jobs go back to the queue: this clears the `agent_id`, so the events of the jobs lead to no agent. */
export function appendReturned(moves: readonly JobMove[], at: string): Statement[] {
  const returned = moves.filter(
    ({ from, to }) => to === 'scheduled' && (from === 'assigned' || from === 'accepted'),
  )
  return returned.length === 0
    ? []
    : [
        publishAgentsOf(
          returned.map(({ jobId }) => jobId),
          at,
        ),
      ]
}

/**
 * Only `notify` of a step wants the events of the step. A new step is inserted later in the transaction. The step is found by
 * its id before its build is compared: PostgreSQL could read all steps of the build for each event.
 */
const insertEvents = onRows(
  'n',
  { job_id: 'uuid', kind: 'text', data: 'jsonb' },
  (rows, organizationId: string, pipelineId: string, buildId: string, at: string) => sql`
    insert into events (organization_id, pipeline_id, build_id, job_id, kind, data, created_at)
    select ${organizationId}, ${pipelineId}, ${buildId}, n.job_id, n.kind, n.data, ${at} from ${rows}
    where n.kind not like 'step.%' or coalesce((
      select s.build_id = ${buildId} and jsonb_array_length(coalesce(s.definition -> 'notify', '[]')) > 0
      from build_steps s where s.id = (n.data ->> 'step_id')::uuid), true)`,
)

function eventRows(effects: readonly Effect[], reason: string | null): EventRow[] {
  const notices = effects.filter((effect) => effect.kind === 'notify')
  const published = new Set<Effect>()
  const byJob = new Map<string | null, typeof notices>()
  for (const notice of notices) {
    if (!('jobId' in notice) && 'stepId' in notice) continue
    const jobId = 'jobId' in notice ? notice.jobId : null
    const others = byJob.get(jobId)
    if (others === undefined) byJob.set(jobId, [notice])
    else others.push(notice)
  }
  const publish = (jobId: string | null) =>
    (byJob.get(jobId) ?? []).map((notice) => {
      published.add(notice)
      return notice.event
    })
  const rows = effects.flatMap((effect): EventRow[] => {
    if (effect.kind === 'job_state_changed') {
      const { jobId, stepId, from, to } = effect
      return [
        {
          kind: 'job.state_changed',
          job_id: jobId,
          data: { from, to, step_id: stepId, event_names: publish(jobId) },
        },
      ]
    }
    // Notifications ignore this: it is for readers that show jobs.
    if (effect.kind === 'job_unblockable_changed') {
      return [{ kind: 'job.changed', job_id: effect.jobId, data: {} }]
    }
    if (effect.kind === 'build_state_changed') {
      const { from, to, blockedState } = effect
      return [
        {
          kind: 'build.state_changed',
          job_id: null,
          data: { from, to, blocked_state: blockedState, event_names: publish(null) },
        },
      ]
    }
    return []
  })
  const unpublished = notices.filter((notice) => !published.has(notice))
  return [
    ...rows,
    ...unpublished.map((notice) => ({
      kind: notice.event,
      job_id: 'jobId' in notice ? notice.jobId : null,
      data: 'stepId' in notice ? { step_id: notice.stepId } : { reason },
    })),
  ]
}
