import { sql } from 'kysely'
import type { Db } from '../../../db/pool.ts'
import type { Position } from '../../../http/cursors.ts'

export interface ListedStepUploadRow {
  id: string
  state: string
  source: string
  source_job_id: string
  replace_existing_steps: boolean
  created_jobs_count: number
  rejection_type: string | null
  message: string | null
  created_at: string
  processed_at: string | null
}

export interface StepUploadRow extends ListedStepUploadRow {
  definition_yaml: string
}

const columns = sql`
  id, state, source, source_job_id, replace_existing_steps, created_jobs_count, rejection_type, message, created_at,
  processed_at`

/** Oldest first; with `before`, newest first from that position. */
export async function listInBuild(
  db: Db,
  orgId: string,
  buildId: string,
  sourceJobId: string | null,
  page: { after: Position | null; before: Position | null; limit: number },
): Promise<ListedStepUploadRow[]> {
  const { after, before } = page
  const behind = after ? sql`and (created_at, id) > (${after.at}, ${after.id})` : sql``
  const ahead = before ? sql`and (created_at, id) < (${before.at}, ${before.id})` : sql``
  const order = before ? sql`created_at desc, id desc` : sql`created_at, id`
  const { rows } = await sql<ListedStepUploadRow>`
    select ${columns} from step_uploads
    where organization_id = ${orgId} and build_id = ${buildId}
      and (${sourceJobId}::uuid is null or source_job_id = ${sourceJobId}::uuid) ${behind} ${ahead}
    order by ${order} limit ${page.limit}`.execute(db)
  return rows
}

export async function findInBuild(
  db: Db,
  orgId: string,
  buildId: string,
  id: string,
): Promise<StepUploadRow | undefined> {
  const { rows } = await sql<StepUploadRow>`
    select ${columns}, definition_yaml from step_uploads
    where organization_id = ${orgId} and build_id = ${buildId} and id = ${id}`.execute(db)
  return rows[0]
}
