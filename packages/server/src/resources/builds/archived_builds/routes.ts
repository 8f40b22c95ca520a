import { Type } from 'typebox'
import { okJson } from '../../../http/answer.ts'
import { cursorAnswer, readCursor } from '../../../http/cursors.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import { presentArchivedBuild, presentPipelineArchive } from './present.ts'
import * as archivedBuilds from '../archives/queries.ts'
import { readDocument } from '../archives/read.ts'
import { ArchivedBuildDocument, ArchivedBuildList, PipelineArchive } from './schema.ts'

const listPipelineArchivesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/archived_builds',
  summary: 'Count the archived builds of each pipeline that has some, by name',
  scope: 'read_builds',
  permission: 'member',
  query: {
    pipeline: Type.Optional(
      Type.Array(Type.String(), { maxItems: 100, description: 'Slugs of pipelines. Without any: all.' }),
    ),
  },
  paging: 'pages',
  answers: { 200: Type.Array(PipelineArchive) },
  async handler({ ctx, org, caller, query, url }) {
    const page = readPage(url)
    const choice = { slugs: query.pipeline ?? null, ...page }
    const rows = await archivedBuilds.listPipelinesWithArchives(ctx.db, org, caller, choice)
    return pageAnswer(page, rows, (row) => presentPipelineArchive(ctx.config.url, org.slug, row))
  },
})

const listArchivedBuildsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/archived_builds',
  summary: 'List the archived builds of a pipeline, newest first',
  scope: 'read_builds',
  permission: 'read_pipeline',
  paging: 'cursor',
  answers: { 200: ArchivedBuildList },
  errors: { 400: 'Both `after` and `before` are given, a cursor is invalid, or `per_page` is out of range.' },
  async handler({ ctx, org, pipelineId, url }) {
    const page = readCursor(url, `archived_builds ${pipelineId}`, ctx.keys)
    const rows = await archivedBuilds.listInPipeline(ctx.db, org.id, pipelineId, page)
    return cursorAnswer(
      page,
      rows,
      (row) => ({ at: row.created_at, id: row.id }),
      (row) => presentArchivedBuild(ctx.config.url, org.slug, row),
    )
  },
})

const getArchivedBuildRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/archived_builds/:build',
  summary: 'Get everything that was archived of a build',
  scope: 'read_builds',
  permission: 'read_pipeline',
  answers: { 200: ArchivedBuildDocument },
  async handler({ ctx, org, params }) {
    const row = await archivedBuilds.findInPipeline(ctx.db, org.id, params.pipeline, params.build)
    if (row === undefined) throw notFound('No build found')
    return okJson(await readDocument(ctx, row))
  },
})

export const archivedBuildRoutes = [listPipelineArchivesRoute, listArchivedBuildsRoute, getArchivedBuildRoute]
