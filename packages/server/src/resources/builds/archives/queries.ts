import { sql } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { accessColumn, visiblePipelines, type PipelineAccess } from '../../../auth/pipeline-access.ts'
import type { Db } from '../../../db/pool.ts'
import type { Position } from '../../../http/cursors.ts'

export interface ArchivedBuildRow {
  id: string
  pipeline_slug: string
  number: number
  state: string
  message: string | null
  commit: string
  branch: string
  created_at: string
  finished_at: string
  archived_at: string
  jobs: number
  logs: number
  size: number
  blob_key: string
}

const columns = sql`
  a.id, p.slug as pipeline_slug, a.number, a.state, a.message, a.commit, a.branch, a.created_at, a.finished_at,
  a.archived_at, a.jobs, a.logs, a.size, a.blob_key`

/** Newest first; with `before`, oldest first from that position. */
export async function listInPipeline(
  db: Db,
  orgId: string,
  pipelineId: string,
  page: { after: Position | null; before: Position | null; limit: number },
): Promise<ArchivedBuildRow[]> {
  const { after, before } = page
  const behind = after ? sql`and (a.created_at, a.id) < (${after.at}, ${after.id})` : sql``
  const ahead = before ? sql`and (a.created_at, a.id) > (${before.at}, ${before.id})` : sql``
  const order = before ? sql`a.created_at, a.id` : sql`a.created_at desc, a.id desc`
  const { rows } = await sql<ArchivedBuildRow>`
    select ${columns} from archived_builds a join pipelines p on p.id = a.pipeline_id
    where a.organization_id = ${orgId} and a.pipeline_id = ${pipelineId} ${behind} ${ahead}
    order by ${order} limit ${page.limit}`.execute(db)
  return rows
}

export async function findInPipeline(
  db: Db,
  orgId: string,
  pipelineSlug: string,
  build: string,
): Promise<ArchivedBuildRow | undefined> {
  const { rows } = await sql<ArchivedBuildRow>`
    select ${columns} from pipelines p join archived_builds a on a.pipeline_id = p.id
    where p.organization_id = ${orgId} and a.organization_id = ${orgId} and p.slug = ${pipelineSlug} and a.number = ${build}::int`.execute(
    db,
  )
  return rows[0]
}

export interface PipelineArchiveRow {
  id: string
  slug: string
  name: string
  builds: number
  logs: number
  size: number
  oldest: string
  newest: string
}

/** The pipelines with archived builds that the caller may read, by name. `slugs` null: all. */
export async function listPipelinesWithArchives(
  db: Db,
  org: Organization,
  caller: Caller,
  { slugs, limit, offset }: { slugs: readonly string[] | null; limit: number; offset: number },
): Promise<PipelineArchiveRow[]> {
  const isNamed = slugs === null ? sql`true` : sql`p.slug = any (${slugs}::text[])`
  const { rows } = await sql<PipelineArchiveRow>`
    select p.id, p.slug, p.name, archived.*
    from (
      select p.id, p.slug, p.name from pipelines p
      where p.organization_id = ${org.id} and ${visiblePipelines(org, caller)} and ${isNamed}
        and exists (select from archived_builds a where a.pipeline_id = p.id)
      order by p.name, p.id limit ${limit} offset ${offset}) p
    cross join lateral (
      select count(*) as builds, sum(a.logs) as logs, sum(a.size)::bigint as size, min(a.created_at) as oldest,
        max(a.created_at) as newest
      from archived_builds a where a.organization_id = ${org.id} and a.pipeline_id = p.id) archived
    order by p.name, p.id`.execute(db)
  return rows
}

interface ArchivedLogRow {
  job_id: string
  pipeline_slug: string
  build_number: number
  header_times: Record<string, string>
  blob_key: string
  size: number
}

/** The log of a job whose build is archived, if the caller may see the pipeline. */
export async function findVisibleLog(
  db: Db,
  org: Organization,
  caller: Caller,
  { job, pipeline, build }: { job: string; pipeline?: string; build?: string },
): Promise<ArchivedLogRow | undefined> {
  const isInBuild =
    pipeline === undefined || build === undefined
      ? sql`true`
      : sql`p.slug = ${pipeline} and a.number = ${build}::int`
  const { rows } = await sql<ArchivedLogRow & { access: PipelineAccess }>`
    select l.job_id, p.slug as pipeline_slug, a.number as build_number, l.header_times, l.blob_key, l.size,
      ${accessColumn(org, caller)} as access
    from archived_logs l join archived_builds a on a.id = l.build_id join pipelines p on p.id = a.pipeline_id
    where l.organization_id = ${org.id} and p.organization_id = ${org.id} and l.job_id = ${job} and ${isInBuild}`.execute(
    db,
  )
  const [found] = rows
  return found === undefined || found.access === 'none' ? undefined : found
}
