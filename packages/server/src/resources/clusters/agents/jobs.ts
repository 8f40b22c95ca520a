import { sql } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { visiblePipelines } from '../../../auth/pipeline-access.ts'
import type { Db } from '../../../db/pool.ts'
import { jobsInBuilds } from '../../job/job-json.ts'
import { listedJobJson } from '../../job/listed-job.ts'

interface Page {
  url: string
  limit: number
  offset: number
}

/**
 * The jobs of an agent as JSON: the one that it runs, then those that ended, the last one first. null: a job of a pipeline that the
 * caller may not see.
 */
export async function listJobs(
  db: Db,
  org: Organization,
  caller: Caller,
  agentId: string,
  { url, limit, offset }: Page,
): Promise<Array<string | null>> {
  const newestFirst = sql`j.finished_at desc nulls first, j.id`
  const { rows } = await sql<{ job: string | null }>`
    select case when ${visiblePipelines(org, caller)} then ${listedJobJson(url)} end as job
    from ${jobsInBuilds}
    where j.organization_id = ${org.id} and j.id = any (array(
      select j.id from jobs j where j.organization_id = ${org.id} and j.agent_id = ${agentId}
      order by ${newestFirst} limit ${limit} offset ${offset}))
    order by ${newestFirst}`.execute(db)
  return rows.map(({ job }) => job)
}
