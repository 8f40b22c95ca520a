// Every state change becomes one row of `events`, in the transaction of the change. What it means for people who
// listen (`job.finished`, `build.failing`) stands in the same row.
import { sql } from 'kysely'
import type { Effect } from '@millrace/engine/advance/effects.ts'
import type { Statement } from '../db/statement.ts'
import type { EventAt } from './advance.ts'
import { onRows } from './rows.ts'
import type { Scope } from './scope.ts'

interface EventRow {
  kind: string
  job_id: string | null
  data: Record<string, unknown>
}

export function appendEvents(
  scope: Scope,
  at: string,
  effects: readonly Effect[],
  cause: EventAt,
): Statement[] {
  const rows = eventRows(effects, cause.type === 'promise' ? (cause.reason ?? null) : null)
  if (rows.length === 0) return []
  return [insertEvents(rows, scope.organizationId, scope.pipelineId, scope.buildId, at)]
}

const insertEvents = onRows(
  'n',
  { job_id: 'uuid', kind: 'text', data: 'jsonb' },
  (rows, organizationId: string, pipelineId: string, buildId: string, at: string) => sql`
    insert into events (organization_id, pipeline_id, build_id, job_id, kind, data, created_at)
    select ${organizationId}, ${pipelineId}, ${buildId}, n.job_id, n.kind, n.data, ${at} from ${rows}`,
)

function eventRows(effects: readonly Effect[], reason: string | null): EventRow[] {
  const news = effects.filter((effect) => effect.kind === 'notify')
  const told = new Set<Effect>()
  const byJob = new Map<string | null, typeof news>()
  for (const item of news) {
    if (!('jobId' in item) && 'stepId' in item) continue
    const jobId = 'jobId' in item ? item.jobId : null
    const known = byJob.get(jobId)
    if (known === undefined) byJob.set(jobId, [item])
    else known.push(item)
  }
  const newsOf = (jobId: string | null) =>
    (byJob.get(jobId) ?? []).map((item) => {
      told.add(item)
      return item.news
    })
  const rows = effects.flatMap((effect): EventRow[] => {
    if (effect.kind === 'job_state_changed') {
      const { jobId, stepId, from, to } = effect
      return [
        {
          kind: 'job.state_changed',
          job_id: jobId,
          data: { from, to, step_id: stepId, news: newsOf(jobId) },
        },
      ]
    }
    if (effect.kind === 'build_state_changed') {
      const { from, to, blockedState } = effect
      return [
        {
          kind: 'build.state_changed',
          job_id: null,
          data: { from, to, blocked_state: blockedState, news: newsOf(null) },
        },
      ]
    }
    return []
  })
  const untold = news.filter((item) => !told.has(item))
  return [
    ...rows,
    ...untold.map((item) => ({
      kind: item.news,
      job_id: 'jobId' in item ? item.jobId : null,
      data: 'stepId' in item ? { step_id: item.stepId } : { reason },
    })),
  ]
}
