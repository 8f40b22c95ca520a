// Finds a job by its id alone or inside its build. Either way it must be in the organization of the URL and in a pipeline
// that the caller may read; inside a build it must be of that build.
import { sql } from 'kysely'
import type { Caller, Organization } from '../../auth/caller.ts'
import { accessColumn, type PipelineAccess } from '../../auth/pipeline-access.ts'
import type { Db } from '../../db/pool.ts'
import { forbidden, notFound } from '../../lib/errors.ts'

export interface JobParams {
  job: string
  pipeline?: string
  build?: string
}

export interface JobAddress {
  id: string
  kind: string
  state: string
  build_id: string
  build_number: number
  pipeline_id: string
  pipeline_slug: string
  access: PipelineAccess
}

export async function getVisibleJob(
  db: Db,
  org: Organization,
  caller: Caller,
  params: JobParams,
): Promise<JobAddress> {
  const found = await findVisibleJob(db, org, caller, params)
  if (found === undefined) throw notFound('No job found')
  return found
}

export async function findVisibleJob(
  db: Db,
  org: Organization,
  caller: Caller,
  { job, pipeline, build }: JobParams,
): Promise<JobAddress | undefined> {
  const isInBuild =
    pipeline === undefined || build === undefined
      ? sql`true`
      : sql`p.slug = ${pipeline} and b.number = ${build}::int`
  const { rows } = await sql<JobAddress>`
    select j.id, j.kind, j.state, b.id as build_id, b.number as build_number, p.id as pipeline_id,
      p.slug as pipeline_slug, ${accessColumn(org, caller)} as access
    from jobs j join builds b on b.id = j.build_id join pipelines p on p.id = b.pipeline_id
    where j.organization_id = ${org.id} and p.organization_id = ${org.id} and j.id = ${job} and ${isInBuild}`.execute(
    db,
  )
  const [found] = rows
  return found === undefined || found.access === 'none' ? undefined : found
}

/** A job of a pipeline that the caller may build. */
export async function getBuildableJob(
  db: Db,
  org: Organization,
  caller: Caller,
  params: JobParams,
): Promise<JobAddress> {
  const job = await getVisibleJob(db, org, caller, params)
  if (job.access === 'read') throw forbidden()
  return job
}
