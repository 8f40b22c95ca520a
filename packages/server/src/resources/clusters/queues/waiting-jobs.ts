import { sql } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { visiblePipelines } from '../../../auth/pipeline-access.ts'
import { dispatchOrder } from '../../../conductor/dispatch/claim.ts'
import { escaped } from '../../../db/json-text.ts'
import type { Db } from '../../../db/pool.ts'
import { jobJson, jobsInBuilds } from '../../job/job-json.ts'

interface Page {
  url: string
  limit: number
  offset: number
}

/**
 * The waiting jobs of a queue as JSON, in the order in which agents get them. null: a job of a pipeline that the caller may not
 * see, which still has its position.
 */
export async function listWaitingJobs(
  db: Db,
  org: Organization,
  caller: Caller,
  queueId: string,
  { url, limit, offset }: Page,
): Promise<Array<string | null>> {
  const { rows } = await sql<{ job: string | null }>`
    select case when ${visiblePipelines(org, caller)} then ${jobJson(escaped(url))} end as job
    from ${jobsInBuilds}
    where j.organization_id = ${org.id} and j.id = any (array(
      select j.id from jobs j
      where j.organization_id = ${org.id} and j.queue_id = ${queueId} and j.state = 'scheduled'
      order by ${dispatchOrder} limit ${limit} offset ${offset}))
    order by ${dispatchOrder}`.execute(db)
  return rows.map(({ job }) => job)
}
