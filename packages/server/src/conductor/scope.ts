// The columns of a build that the conductor needs beside the engine's rows: its owner, and values its jobs inherit.
import { sql } from 'kysely'
import type { TimeLimits } from '@millrace/engine/timeouts.ts'
import { prepared } from '../db/statement.ts'
import { chargedFields, type Charged } from './shares/charged.ts'
import { mayBeUntrusted } from './trust.ts'

export interface Scope extends Charged {
  buildId: string
  organizationId: string
  pipelineId: string
  /** Set when a trigger step made the build. */
  triggeredFromJobId: string | null
  /** Whether new builds of the pipeline may skip or cancel older ones of their branch. */
  supersedes: boolean
  /** False: its jobs are trusted. True: `isUntrusted` tells. */
  mayBeUntrusted: boolean
}

/** Values that new jobs inherit from their pipeline, its cluster and its organization. */
export interface PipelineDefaults {
  clusterId: string | null
  defaultQueueId: string | null
  timeouts: TimeLimits
}

export interface Inherited extends PipelineDefaults, Charged {
  isUntrusted: boolean
  /** Who has retried the job that uploads them. Absent: nobody, so they are charged as their build. */
  retriedByUserId?: string | null
}

const pipelineFields = sql`
  p.organization_id as "organizationId", p.id as "pipelineId",
  p.skip_queued_branch_builds or p.cancel_running_branch_builds as supersedes`

/** For queries with `builds b` and `pipelines p`. */
export const scopeFields = sql`
  b.id as "buildId", b.triggered_from_job_id as "triggeredFromJobId", ${mayBeUntrusted} as "mayBeUntrusted",
  ${chargedFields}, ${pipelineFields}`

/** The part that is the same for every build of the pipeline. */
export type PipelineScope = Pick<Scope, 'organizationId' | 'pipelineId' | 'supersedes'> & PipelineDefaults

export const selectPipelineScope = prepared(
  (organizationId: string, pipelineId: string) => sql<PipelineScope>`
    select ${pipelineFields}, p.cluster_id as "clusterId", c.default_queue_id as "defaultQueueId",
      json_build_object(
        'pipelineDefaultMinutes', p.default_command_step_timeout,
        'pipelineMaximumMinutes', p.maximum_command_step_timeout,
        'organizationDefaultMinutes', o.default_timeout_in_minutes,
        'organizationMaximumMinutes', o.maximum_timeout_in_minutes) as timeouts
    from pipelines p
    left join clusters c on c.id = p.cluster_id
    left join organization_pipeline_settings o on o.organization_id = p.organization_id
    where p.organization_id = ${organizationId} and p.id = ${pipelineId}`,
)
