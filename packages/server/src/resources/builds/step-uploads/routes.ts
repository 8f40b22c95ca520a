import { Type } from 'typebox'
import type { Context } from '../../../context.ts'
import { ok } from '../../../http/answer.ts'
import { cursorAnswer, readCursor } from '../../../http/cursors.ts'
import { route } from '../../../http/route.ts'
import { notFound, refused } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/ids.ts'
import { getBuild } from '../../addresses/builds.ts'
import { pipelineUrl } from '../../pipelines/pipelines/present.ts'
import { presentListed, presentStepUpload } from './present.ts'
import * as stepUploads from './queries.ts'
import { StepUpload, StepUploadList } from './schema.ts'

const listStepUploadsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/step-uploads',
  summary: 'List the steps that jobs of a build uploaded, oldest first',
  scope: 'read_builds',
  permission: 'read_pipeline',
  query: {
    filter: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: '`filter[source_job_id]`: one job’s only.' }),
    ),
  },
  paging: 'cursor',
  answers: { 200: StepUploadList },
  errors: {
    400: 'Both `after` and `before` are given, a cursor is invalid, or `per_page` is out of range.',
    422: '`filter[source_job_id]` is no id of a job.',
  },
  async handler({ ctx, org, params, query, url }) {
    const job = query.filter?.['source_job_id'] ?? null
    if (job !== null && !isUuid(job)) {
      throw refused(`Unknown filter[source_job_id] "${job.slice(0, 100)}"; accepted is the id of a job.`)
    }
    const build = await getBuildUrl(ctx, org, params)
    const page = readCursor(url, `step-uploads ${build.id}`, ctx.keys)
    const rows = await stepUploads.listInBuild(ctx.db, org.id, build.id, job, page)
    return cursorAnswer(
      page,
      rows,
      (row) => ({ at: row.created_at, id: row.id }),
      (row) => presentListed(build.url, row),
    )
  },
})

const getStepUploadRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/step-uploads/:upload',
  summary: 'Get steps that a job uploaded, with their text',
  scope: 'read_builds',
  permission: 'read_pipeline',
  answers: { 200: StepUpload },
  async handler({ ctx, org, params }) {
    const build = await getBuildUrl(ctx, org, params)
    const upload = await stepUploads.findInBuild(ctx.db, org.id, build.id, params.upload)
    if (upload === undefined) throw notFound('No step upload found')
    return ok(presentStepUpload(build.url, upload))
  },
})

async function getBuildUrl(
  ctx: Context,
  org: { id: string; slug: string },
  params: { pipeline: string; build: string },
): Promise<{ id: string; url: string }> {
  const build = await getBuild(ctx.db, org.id, params)
  const pipeline = pipelineUrl(ctx.config.url, org.slug, build.pipeline_slug)
  return { id: build.id, url: `${pipeline}/builds/${build.number}` }
}

export const stepUploadRoutes = [listStepUploadsRoute, getStepUploadRoute]
