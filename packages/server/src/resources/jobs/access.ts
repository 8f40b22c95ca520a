// A job is named by its id alone or inside its build. Either way it is looked for in the organization of the URL,
// and its pipeline decides who may know of it; inside a build it must be that build's.
import { sql } from 'kysely'
import type { Caller, Organization } from '../../auth/caller.ts'
import { accessColumn, type PipelineAccess } from '../../auth/pipeline-access.ts'
import type { Db } from '../../db/pool.ts'
import { forbidden, notFound } from '../../lib/errors.ts'
import { isNamed } from '../builds/queries.ts'

export interface JobParams {
  job: string
  pipeline?: string
  build?: string
}

export interface JobInPlace {
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
  { job, pipeline, build }: JobParams,
): Promise<JobInPlace> {
  const isInBuild =
    pipeline === undefined || build === undefined
      ? sql`true`
      : sql`p.slug = ${pipeline} and ${isNamed(build)}`
  const { rows } = await sql<JobInPlace>`
    select j.id, j.kind, j.state, b.id as build_id, b.number as build_number, p.id as pipeline_id,
      p.slug as pipeline_slug, ${accessColumn(org, caller)} as access
    from jobs j join builds b on b.id = j.build_id join pipelines p on p.id = b.pipeline_id
    where j.organization_id = ${org.id} and p.organization_id = ${org.id} and j.id = ${job} and ${isInBuild}`.execute(
    db,
  )
  const [found] = rows
  if (found === undefined || found.access === 'none') throw notFound('No job found')
  return found
}

/** A job of a pipeline whose builds the caller may make and change. */
export async function getBuildableJob(
  db: Db,
  org: Organization,
  caller: Caller,
  params: JobParams,
): Promise<JobInPlace> {
  const job = await getVisibleJob(db, org, caller, params)
  if (job.access === 'read') throw forbidden()
  return job
}
