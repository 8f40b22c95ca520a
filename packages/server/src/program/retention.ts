// The commands about retention and archived builds.
import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { Origin } from '../audit/record.ts'
import { openBlobs } from '../blobs/open.ts'
import { deleteUnclaimed } from '../blobs/unclaimed.ts'
import type { Config } from '../config/config.ts'
import { StartupError } from '../db/embedded/startup-error.ts'
import type { Db } from '../db/pool.ts'
import { presentArchivedBuild } from '../resources/builds/archived_builds/present.ts'
import * as archivedBuilds from '../resources/builds/archives/queries.ts'
import { readDocument } from '../resources/builds/archives/read.ts'
import type { ArchivedBuild } from '../resources/builds/archived_builds/schema.ts'
import { pipelineUrl } from '../resources/pipelines/pipelines/present.ts'
import { preview, previewOrganization } from '../resources/builds/retention/preview.ts'
import { presentPreview, presentRetention } from '../resources/builds/retention/present.ts'
import * as retention from '../resources/builds/retention/queries.ts'
import type { OwnSettings } from '../resources/builds/retention/rules.ts'
import { expireSome, type Done } from '../resources/builds/retention/run.ts'
import type { Retention, RetentionPreview } from '../resources/builds/retention/schema.ts'
import type { Terms } from '../resources/builds/retention/selection.ts'
import { updateOrganizationRetention, updatePipelineRetention } from '../resources/builds/retention/update.ts'

/** An organization, or one of its pipelines. */
export interface RetentionOf {
  organization: string
  pipeline: string | null
}

export interface PipelineName {
  organization: string
  pipeline: string
}

type ShownRetention = Static<typeof Retention>
type ShownPreview = Static<typeof RetentionPreview>

export async function showRetention(config: Config, db: Db, of: RetentionOf): Promise<ShownRetention> {
  const { org, pipeline } = await find(db, of)
  const ofOrg = await retention.getOfOrg(db, org.id)
  if (pipeline === null) return presentRetention(config, organizationUrl(config, org.slug), [ofOrg])
  const own = await retention.getOfPipeline(db, org.id, pipeline.id)
  return presentRetention(config, pipelineUrl(config.url, org.slug, pipeline.slug), [own, ofOrg])
}

export async function setRetention(
  config: Config,
  db: Db,
  origin: Origin,
  of: RetentionOf,
  settings: Partial<OwnSettings>,
): Promise<ShownRetention> {
  const { org, pipeline } = await find(db, of)
  if (pipeline === null) await updateOrganizationRetention(db, origin, org, settings)
  else await updatePipelineRetention(db, origin, org.id, pipeline, settings)
  return showRetention(config, db, of)
}

export async function previewRetention(
  config: Config,
  db: Db,
  of: RetentionOf,
  settings: Partial<OwnSettings>,
): Promise<ShownPreview> {
  const { org, pipeline } = await find(db, of)
  const level = pipeline === null ? 'organization' : 'pipeline'
  const terms = { ...(await termsOf(config, db)), trial: { level, settings } } as const
  const counted =
    pipeline === null
      ? await previewOrganization(db, org.id, terms)
      : await preview(db, org.id, [pipeline], terms)
  return presentPreview(config.url, org.slug, terms.now, counted)
}

/** Also deletes the objects that nothing refers to any more, so that their space is free at the end. */
export async function runRetention(
  config: Config,
  db: Db,
  of: RetentionOf,
  stopping: AbortSignal,
): Promise<Done & { now: string }> {
  const { org, pipeline } = await find(db, of)
  const terms = await termsOf(config, db)
  const blobs = openBlobs(config)
  const scope = { organizationId: org.id, pipelineIds: pipeline === null ? null : [pipeline.id] }
  const done = await expireSome({ db, blobs, config }, scope, terms, { stopping, pause: 0 })
  await deleteUnclaimed(db, blobs)
  return { now: terms.now, ...done }
}

const archivesAtOnce = 1000

/** Newest first, at most `limit`. */
export async function listArchives(
  config: Config,
  db: Db,
  of: PipelineName,
  limit: number,
): Promise<Array<Static<typeof ArchivedBuild>>> {
  const org = await getOrganization(db, of.organization)
  const pipeline = await getPipeline(db, org, of.pipeline)
  const listed: archivedBuilds.ArchivedBuildRow[] = []
  while (listed.length < limit) {
    const last = listed.at(-1)
    const page = {
      after: last === undefined ? null : { at: last.created_at, id: last.id },
      before: null,
      limit: Math.min(archivesAtOnce, limit - listed.length),
    }
    const rows = await archivedBuilds.listInPipeline(db, org.id, pipeline.id, page)
    listed.push(...rows)
    if (rows.length < page.limit) break
  }
  return listed.map((row) => presentArchivedBuild(config.url, org.slug, row))
}

/** The document as JSON text. `build` is a number or a UUID. */
export async function showArchive(config: Config, db: Db, of: PipelineName, build: string): Promise<string> {
  const org = await getOrganization(db, of.organization)
  const row = await archivedBuilds.findInPipeline(db, org.id, of.pipeline, build)
  if (row === undefined) {
    throw new StartupError(
      `There is no archived build ${build} of ${of.pipeline}: millrace archive list ${of.organization} ${of.pipeline} shows them.`,
    )
  }
  return readDocument({ blobs: openBlobs(config) }, row)
}

interface OrganizationName {
  id: string
  slug: string
  name: string
}

async function find(
  db: Db,
  of: RetentionOf,
): Promise<{ org: OrganizationName; pipeline: retention.PipelineName | null }> {
  const org = await getOrganization(db, of.organization)
  return { org, pipeline: of.pipeline === null ? null : await getPipeline(db, org, of.pipeline) }
}

async function getOrganization(db: Db, slug: string): Promise<OrganizationName> {
  const org = await db
    .selectFrom('organizations')
    .select(['id', 'slug', 'name'])
    .where('slug', '=', slug)
    .executeTakeFirst()
  if (org === undefined) throw new StartupError(`There is no organization "${slug}".`)
  return org
}

async function getPipeline(db: Db, org: OrganizationName, slug: string): Promise<retention.PipelineName> {
  const pipeline = await retention.findPipeline(db, org.id, slug)
  if (pipeline === undefined) {
    throw new StartupError(`There is no pipeline "${slug}" in ${org.slug}: give its slug.`)
  }
  return pipeline
}

async function termsOf(config: Config, db: Db): Promise<Terms> {
  const { rows } = await sql<{ now: string }>`select now() as now`.execute(db)
  return { now: rows[0]?.now ?? new Date().toISOString(), defaults: config.retention }
}

const organizationUrl = ({ url }: Config, slug: string) => `${url}/v2/organizations/${slug}`
