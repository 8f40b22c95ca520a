// What the conductor knows of a build beside the engine's rows: to whom it belongs and what its jobs inherit.
import { sql } from 'kysely'
import type { TimeLimits } from '@millrace/engine/timeouts.ts'

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

const pipelineFields = sql`
  p.organization_id as "organizationId", p.id as "pipelineId", p.cluster_id as "clusterId",
  c.default_queue_id as "defaultQueueId", o.scheduled_job_expiry_in_minutes as "expiryMinutes",
  p.skip_queued_branch_builds or p.cancel_running_branch_builds as supersedes,
  json_build_object(
    'pipelineDefaultMinutes', p.default_command_step_timeout,
    'pipelineMaximumMinutes', p.maximum_command_step_timeout,
    'organizationDefaultMinutes', o.default_timeout_in_minutes,
    'organizationMaximumMinutes', o.maximum_timeout_in_minutes) as timeouts`

const joins = sql`
  left join clusters c on c.id = p.cluster_id
  left join organization_pipeline_settings o on o.organization_id = p.organization_id`

/** For queries with `builds b`. */
export const scopeFields = sql`
  b.id as "buildId", b.triggered_from_job_id as "triggeredFromJobId", ${pipelineFields}`
export const scopeJoins = sql`join pipelines p on p.id = b.pipeline_id ${joins}`

export const selectScope = (organizationId: string, buildId: string) => sql<Scope>`
  select ${scopeFields} from builds b ${scopeJoins}
  where b.organization_id = ${organizationId} and b.id = ${buildId}`

/** All of it that is the same for every build of the pipeline. */
export type PipelineScope = Omit<Scope, 'buildId' | 'triggeredFromJobId'>

export const selectPipelineScope = (organizationId: string, pipelineId: string) => sql<PipelineScope>`
  select ${pipelineFields} from pipelines p ${joins}
  where p.organization_id = ${organizationId} and p.id = ${pipelineId}`
