import { Type } from 'typebox'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Context } from '../../../context.ts'
import { created, noContent, type Answer } from '../../../http/answer.ts'
import type { RequestUrl } from '../../../http/links.ts'
import { workOf } from '../../../http/limits/gone.ts'
import { route } from '../../../http/route.ts'
import { validationFailed } from '../../../lib/errors.ts'
import { getBuild } from '../../addresses/builds.ts'
import { getBuildableJob, getVisibleJob, type JobParams } from '../../addresses/jobs.ts'
import { listPage } from './list.ts'
import type * as annotations from './queries.ts'
import { Annotation, CreateAnnotation, mostBodyBytes, type CreateAnnotationBody } from './schema.ts'
import { deleteAnnotation, createAnnotation } from './create.ts'

interface Asked {
  ctx: Context
  org: Organization
  caller: Caller
  params: JobParams
  url: RequestUrl
  gone: () => AbortSignal
}

/** A character of JSON may take six bytes for one of text. */
const bodyLimitBytes = 7 * mostBodyBytes

const list = {
  method: 'GET',
  scope: 'read_builds',
  paging: 'pages',
  answers: { 200: Type.Array(Annotation) },
} as const

const post = {
  method: 'POST',
  scope: 'write_builds',
  body: CreateAnnotation,
  bodyLimitBytes,
  callsOut: true,
  answers: { 201: Annotation },
  errors: { 422: 'The body is not valid, or the annotation would grow beyond 1 MiB.' },
} as const

const remove = { method: 'DELETE', scope: 'write_builds', answers: { 204: null } } as const

const listBuildAnnotationsRoute = route({
  ...list,
  url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/annotations',
  summary: 'List the annotations of a build, the most important first',
  permission: 'read_pipeline',
  query: {
    scope: Type.Optional(
      Type.String({ description: '`build` (default), `job` or `all`.', examples: ['all'] }),
    ),
    omit_body: Type.Optional(Type.Boolean({ default: false, description: 'Leave out `body_html`.' })),
  },
  errors: { 422: 'The scope is unknown.' },
  async handler({ ctx, org, caller, params, query, url, gone }) {
    const scope = readScope(query.scope ?? 'build')
    const owner = await getOwner(ctx, org, params)
    const wanted = { scope, withBody: query.omit_body !== true, url }
    return listPage(ctx, owner, wanted, workOf('page', { org, caller, gone }))
  },
})

const createBuildAnnotationRoute = route({
  ...post,
  url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/annotations',
  summary: 'Annotate a build; the same context replaces, or appends',
  permission: 'build_pipeline',
  async handler({ ctx, org, caller, params, body, gone }) {
    const owner = await getOwner(ctx, org, params)
    const work = workOf('upload', { org, caller, gone })
    return created(await createAnnotation(ctx, caller, owner, body, work))
  },
})

const deleteBuildAnnotationRoute = route({
  ...remove,
  url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/annotations/:annotation',
  summary: 'Delete an annotation of a build or of one of its jobs',
  permission: 'build_pipeline',
  async handler({ ctx, org, caller, params }) {
    await deleteAnnotation(ctx, caller, await getOwner(ctx, org, params), params.annotation)
    return noContent()
  },
})

const listInJob = {
  ...list,
  summary: 'List the annotations of a job, the most important first',
  handler: listOfJob,
} as const

const postInJob = {
  ...post,
  summary: 'Annotate a job; the same context replaces, or appends',
  handler: postToJob,
} as const

const removeInJob = {
  ...remove,
  summary: 'Delete an annotation of a job',
  handler: deleteOfJob,
} as const

async function listOfJob({ ctx, org, caller, params, url, gone }: Asked): Promise<Answer> {
  const job = await getVisibleJob(ctx.db, org, caller, params)
  const wanted = { scope: 'job', withBody: true, url } as const
  return listPage(ctx, ownerOf(org, job), wanted, workOf('page', { org, caller, gone }))
}

async function postToJob({
  ctx,
  org,
  caller,
  params,
  body,
  gone,
}: Asked & { body: CreateAnnotationBody }): Promise<Answer> {
  const job = await getBuildableJob(ctx.db, org, caller, params)
  const work = workOf('upload', { org, caller, gone })
  return created(await createAnnotation(ctx, caller, ownerOf(org, job), body, work))
}

async function deleteOfJob({
  ctx,
  org,
  caller,
  params,
}: Asked & { params: JobParams & { annotation: string } }): Promise<Answer> {
  const job = await getBuildableJob(ctx.db, org, caller, params)
  await deleteAnnotation(ctx, caller, ownerOf(org, job), params.annotation)
  return noContent()
}

const ownerOf = (org: Organization, job: { id: string; build_id: string }): annotations.Owner => ({
  organizationId: org.id,
  buildId: job.build_id,
  jobId: job.id,
})

async function getOwner(
  ctx: Context,
  org: Organization,
  params: { pipeline: string; build: string },
): Promise<annotations.Owner> {
  const { id } = await getBuild(ctx.db, org.id, params)
  return { organizationId: org.id, buildId: id, jobId: null }
}

function readScope(text: string): annotations.Scope {
  if (text === 'build' || text === 'job' || text === 'all') return text
  throw validationFailed(`scope "${text}" is none of build, job and all`)
}

export const annotationRoutes = [
  listBuildAnnotationsRoute,
  createBuildAnnotationRoute,
  deleteBuildAnnotationRoute,
  route({ ...listInJob, permission: 'member', url: '/v2/organizations/:org/jobs/:job/annotations' }),
  route({
    ...listInJob,
    permission: 'read_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/annotations',
  }),
  route({ ...postInJob, permission: 'member', url: '/v2/organizations/:org/jobs/:job/annotations' }),
  route({
    ...postInJob,
    permission: 'build_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/annotations',
  }),
  route({
    ...removeInJob,
    permission: 'member',
    url: '/v2/organizations/:org/jobs/:job/annotations/:annotation',
  }),
  route({
    ...removeInJob,
    permission: 'build_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/annotations/:annotation',
  }),
]
