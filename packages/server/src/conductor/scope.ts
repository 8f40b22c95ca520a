// What the conductor knows of a build beside the engine's rows: to whom it belongs and what its jobs inherit.
import { sql } from 'kysely'
import type { TimeLimits } from '@millrace/engine/timeouts.ts'
import type { Trx } from '../db/pool.ts'

export interface Scope {
  buildId: string
  organizationId: string
  pipelineId: string
  clusterId: string | null
  defaultQueueId: string | null
  /** Set when a trigger step made the build. */
  triggeredFromJobId: string | null
  timeouts: TimeLimits
  expiryMinutes: number | null
  /** Whether a build of the pipeline may make older ones of its branch superfluous. */
  supersedes: boolean
}

export async function loadScope(
  trx: Trx,
  organizationId: string,
  buildId: string,
): Promise<Scope | undefined> {
  const { rows } = await sql<Omit<Scope, 'timeouts'> & TimeLimits>`
    select b.id as "buildId", b.organization_id as "organizationId", b.pipeline_id as "pipelineId",
      p.cluster_id as "clusterId", c.default_queue_id as "defaultQueueId",
      b.triggered_from_job_id as "triggeredFromJobId",
      p.default_command_step_timeout as "pipelineDefaultMinutes", p.maximum_command_step_timeout as "pipelineMaximumMinutes",
      o.default_timeout_in_minutes as "organizationDefaultMinutes", o.maximum_timeout_in_minutes as "organizationMaximumMinutes",
      o.scheduled_job_expiry_in_minutes as "expiryMinutes",
      p.skip_queued_branch_builds or p.cancel_running_branch_builds as supersedes
    from builds b join pipelines p on p.id = b.pipeline_id
    left join clusters c on c.id = p.cluster_id
    left join organization_pipeline_settings o on o.organization_id = b.organization_id
    where b.organization_id = ${organizationId} and b.id = ${buildId}`.execute(trx)
  const [row] = rows
  if (row === undefined) return undefined
  const {
    pipelineDefaultMinutes,
    pipelineMaximumMinutes,
    organizationDefaultMinutes,
    organizationMaximumMinutes,
    ...scope
  } = row
  const timeouts = {
    pipelineDefaultMinutes,
    pipelineMaximumMinutes,
    organizationDefaultMinutes,
    organizationMaximumMinutes,
  }
  return { ...scope, timeouts }
}
