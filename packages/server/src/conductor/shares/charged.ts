// Who is charged for the jobs of a build in fair queues, and whether a machine asks for them.
import { sql } from 'kysely'
import { prepared, type Statement } from '../../db/statement.ts'
import type { BuildRequest } from '../build.ts'

export interface Charged {
  /** null: nobody known, as for a push. */
  chargedUserId: string | null
  chargedPipelineId: string
  isMachine: boolean
}

/**
 * A triggered build is charged to whoever is charged for the trigger job, so that trigger steps gain nothing. Nobody waits for the
 * build of a schedule, so it counts as a machine's, and is charged to its owner.
 */
export const chargedFor = (
  organizationId: string,
  { pipelineId, creatorId, source, triggeredFrom, isMachine = false }: BuildRequest,
): Statement<Charged> =>
  triggeredFrom === null
    ? ofRequest(pipelineId, creatorId, isMachine || source === 'schedule')
    : ofTrigger(organizationId, triggeredFrom.job_id)

const ofRequest = prepared(
  (pipelineId: string, creatorId: string | null, isMachine: boolean) => sql<Charged>`
    select ${creatorId}::uuid as "chargedUserId", ${pipelineId}::uuid as "chargedPipelineId",
      ${isMachine}::boolean or exists (
        select from users u where u.id = ${creatorId}::uuid and u.is_service_account) as "isMachine"`,
)

const ofTrigger = prepared(
  (organizationId: string, jobId: string) => sql<Charged>`
    select coalesce(j.charged_user_id, b.charged_user_id, b.creator_id) as "chargedUserId",
      coalesce(b.charged_pipeline_id, b.pipeline_id) as "chargedPipelineId", j.is_machine as "isMachine"
    from jobs j join builds b on b.id = j.build_id
    where j.organization_id = ${organizationId} and j.id = ${jobId}`,
)

/** What a job uploads is charged as the job itself: to who has retried it, where somebody has. */
export const chargedForUploads = prepared(
  (organizationId: string, buildId: string, jobId: string | null) => sql<{
    retriedByUserId: string | null
    isMachine: boolean
  }>`
    select j.charged_user_id as "retriedByUserId", j.is_machine as "isMachine" from jobs j
    where j.organization_id = ${organizationId} and j.build_id = ${buildId} and j.id = ${jobId}`,
)

/** For queries with `builds b`. */
export const chargedFields = sql`
  coalesce(b.charged_user_id, b.creator_id) as "chargedUserId",
  coalesce(b.charged_pipeline_id, b.pipeline_id) as "chargedPipelineId", b.is_machine as "isMachine"`
