// What a job may know of builds other than its own: those of pipelines in its own cluster. It may change only its own.
import { sql } from 'kysely'
import type { Context } from '../context.ts'
import { forbidden, notFound } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import type { RunningJob } from './tokens.ts'

/** Its own build where none is named. */
export async function readableBuild(
  ctx: Context,
  job: RunningJob,
  named: string | null | undefined,
): Promise<string> {
  if (!named || named.toLowerCase() === job.buildId) return job.buildId
  if (!isUuid(named)) throw notFound('No build found')
  const { rows } = await sql<{ id: string }>`
    select b.id from builds b join pipelines p on p.id = b.pipeline_id
    where b.organization_id = ${job.organizationId} and p.cluster_id = ${job.clusterId} and b.id = ${named}`.execute(
    ctx.db,
  )
  const [build] = rows
  if (build === undefined) throw notFound('No build found')
  return build.id
}

/** The id of another build is answered the same whether there is such a build or not. */
export function ownBuild(job: RunningJob, named: string | null | undefined): string {
  if (!named || named.toLowerCase() === job.buildId) return job.buildId
  throw forbidden('The token belongs to a job of another build.')
}
