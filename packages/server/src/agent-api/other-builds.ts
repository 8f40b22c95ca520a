// Access of a job to builds other than its own, which it may only read. A job of a fork reads none of them. Other jobs
// read the builds of their own pipeline; and in their cluster, or where a rule allows it, the builds that
// triggered theirs or were triggered by it, and those of pipelines that the teams let them read.
import { sql } from 'kysely'
import { readableBy, readableWith } from '../auth/pipeline-access.ts'
import { isUntrusted } from '../conductor/trust.ts'
import type { Context } from '../context.ts'
import { forbidden, notFound } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import type { RunningJob } from './tokens.ts'

type WhatIsRead = 'artifacts' | 'other'

/** Its own build where none is named. A build that it may not read is answered like one that does not exist. */
export async function readableBuild(
  ctx: Context,
  job: RunningJob,
  named: string | null | undefined,
  what: WhatIsRead,
): Promise<string> {
  if (!named || named.toLowerCase() === job.buildId) return job.buildId
  if (!isUuid(named) || (await isUntrusted(ctx.db, job.organizationId, [job.buildId]))) {
    throw notFound('No build found')
  }
  const { rows } = await sql<{ id: string }>`
    select b.id from builds b join pipelines p on p.id = b.pipeline_id
    join builds own on own.organization_id = b.organization_id and own.id = ${job.buildId}
    where b.organization_id = ${job.organizationId} and b.id = ${named}
      and (p.id = own.pipeline_id or (p.cluster_id = ${job.clusterId} or ${isAllowedByRule(job, what)})
        and (b.id::text = own.triggered_from ->> 'build_id' or own.id::text = b.triggered_from ->> 'build_id'
          or case when own.creator_id is null then ${readableWith(sql`own.pipeline_id`)}
            else ${readableBy(sql`own.creator_id`)} end))`.execute(ctx.db)
  const [build] = rows
  if (build === undefined) throw notFound('No build found')
  return build.id
}

const isAllowedByRule = (job: RunningJob, what: WhatIsRead) =>
  what === 'artifacts'
    ? sql`exists (select from rules r where r.organization_id = ${job.organizationId}
        and r.type = 'pipeline.artifacts_read.pipeline' and r.conditions = '{}'
        and r.source_pipeline_id = ${job.pipelineId} and r.target_pipeline_id = p.id)`
    : sql`false`

/** The id of another build is answered the same whether there is such a build or not. */
export function ownBuild(job: RunningJob, named: string | null | undefined): string {
  if (!named || named.toLowerCase() === job.buildId) return job.buildId
  throw forbidden('The token belongs to a job of another build.')
}
