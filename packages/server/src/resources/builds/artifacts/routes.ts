import { checkTicket } from '../../../auth/tickets.ts'
import { Readable } from 'node:stream'
import { Type } from 'typebox'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Context } from '../../../context.ts'
import { noContent, ok, redirect, type Answer } from '../../../http/answer.ts'
import { holdAgentRequest } from '../../../http/limits/agent-requests.ts'
import type { RequestUrl } from '../../../http/links.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import { getBuild } from '../../addresses/builds.ts'
import { getBuildableJob, getVisibleJob, type JobAddress, type JobParams } from '../../addresses/jobs.ts'
import { deleteArtifact } from './delete.ts'
import { buildUrl, presentArtifact } from './present.ts'
import * as artifacts from './queries.ts'
import type { StoredArtifact } from './queries.ts'
import { disposition, filenameOf, isPicture, largestPicture, readState, safeMimeType } from './rules.ts'
import { Artifact, ArtifactDownload, artifactStates } from './schema.ts'
import { downloadSeconds, fileUrl } from './tickets.ts'

interface JobRequest {
  ctx: Context
  org: Organization
  caller: Caller
  params: JobParams
}

type ArtifactRequest = JobRequest & { params: JobParams & { artifact: string } }

const filters = {
  state: Type.Optional(Type.String({ description: `One of ${artifactStates.join(', ')}.` })),
  path: Type.Optional(
    Type.String({ description: 'Exact, or with `*` for any run of characters, slashes included.' }),
  ),
}

const listing = {
  method: 'GET',
  scope: 'read_artifacts',
  query: filters,
  paging: 'pages',
  answers: { 200: Type.Array(Artifact) },
  errors: { 422: 'The state is unknown.' },
} as const

const listOfBuildRoute = route({
  ...listing,
  url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/artifacts',
  summary: 'List the artifacts of all jobs of a build, oldest first',
  permission: 'read_pipeline',
  async handler({ ctx, org, params, query, url }) {
    const state = readState(query.state)
    const found = await getBuild(ctx.db, org.id, params)
    const page = readPage(url)
    const rows = await artifacts.listOfBuild(ctx.db, org.id, found.id, { state, path: query.path, ...page })
    const at = buildUrl(ctx.config.url, org.slug, params.pipeline, found.number)
    return pageAnswer(page, rows, (row) => presentArtifact(row, at))
  },
})

const listingInJob = {
  ...listing,
  summary: 'List the artifacts of a job, oldest first',
  handler: answerList,
} as const

const get = {
  method: 'GET',
  summary: 'Get an artifact',
  scope: 'read_artifacts',
  answers: { 200: Artifact },
  handler: answerOne,
} as const

const download = {
  method: 'GET',
  summary: 'Download an artifact: answers where its file is to be had for 60 seconds',
  scope: 'read_artifacts',
  download: true,
  answers: { 302: ArtifactDownload },
  handler: answerDownload,
} as const

const image = {
  method: 'GET',
  summary: 'Read an artifact that is a picture of at most 4 MiB',
  scope: 'read_artifacts',
  answers: { 200: Type.String({ contentMediaType: 'image/*' }) },
  errors: { 404: 'The artifact is no picture, it is larger, or its file is in a store of the organization.' },
  handler: answerImage,
} as const

const deletion = {
  method: 'DELETE',
  summary: 'Delete an artifact, and its file where this server keeps it',
  scope: 'write_artifacts',
  answers: { 204: null },
  handler: answerDelete,
} as const

/** A job wrote the file, so it is not trusted: a browser must not run or load anything from it. */
const filePolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; sandbox"

const getFileRoute = route({
  method: 'GET',
  url: '/v2/artifacts/:artifact/file',
  summary: 'Read the file of an artifact, at an address that a download gave',
  scope: 'none',
  permission: 'anonymous',
  query: {
    ticket: Type.Optional(Type.String({ description: 'The code in the address that a download leads to.' })),
  },
  answers: { 200: Type.String({ contentMediaType: 'application/octet-stream' }), 302: null },
  errors: { 403: 'The address was not given by this server, or is older than 60 seconds.' },
  async handler({ ctx, method, params, query, gone }) {
    const id = params.artifact.toLowerCase()
    const secondsLeft = checkTicket(ctx, 'download', id, query.ticket)
    const artifact = await artifacts.findSigned(ctx.db, id)
    if (artifact === undefined || artifact.blob_key === null) throw notFound('No artifact found')
    holdAgentRequest(ctx, { organizationId: artifact.organization_id, sender: id }, gone())
    const shown = {
      contentType: safeMimeType(artifact.mime_type),
      disposition: disposition(filenameOf(artifact.path)),
    }
    const { direct } = ctx.blobs
    if (direct !== null && method === 'GET') {
      // The store's URL must not be valid longer than the ticket.
      const seconds = Math.max(1, Math.min(secondsLeft, downloadSeconds))
      return redirect(await direct.getUrl(artifact.blob_key, seconds, shown))
    }
    const headers = {
      'Content-Type': shown.contentType,
      'Content-Length': String(artifact.file_size),
      'Content-Disposition': shown.disposition,
      'Content-Security-Policy': filePolicy,
      'Cache-Control': 'private, no-store',
    }
    const stream = method === 'HEAD' ? Readable.from([]) : await ctx.blobs.get(artifact.blob_key)
    if (stream === null) throw notFound('No artifact found')
    return { status: 200, stream, headers }
  },
})

async function answerList({
  ctx,
  org,
  caller,
  params,
  query,
  url,
}: JobRequest & { query: { state?: string; path?: string }; url: RequestUrl }): Promise<Answer> {
  const state = readState(query.state)
  const job = await getVisibleJob(ctx.db, org, caller, params)
  const page = readPage(url)
  const rows = await artifacts.listOfJob(ctx.db, org.id, job.id, { state, path: query.path, ...page })
  const at = urlOfBuild(ctx, org, job)
  return pageAnswer(page, rows, (row) => presentArtifact(row, at))
}

async function answerOne({ ctx, org, caller, params }: ArtifactRequest): Promise<Answer> {
  const job = await getVisibleJob(ctx.db, org, caller, params)
  return ok(presentArtifact(await getArtifact(ctx, org, job, params.artifact), urlOfBuild(ctx, org, job)))
}

async function answerDownload({ ctx, org, caller, params }: ArtifactRequest): Promise<Answer> {
  const job = await getVisibleJob(ctx.db, org, caller, params)
  const url = downloadUrl(ctx, await getArtifact(ctx, org, job, params.artifact))
  return { ...redirect(url), body: { url } }
}

/** Pages show pictures in annotations. They may not follow a redirect to the store. */
async function answerImage({
  ctx,
  org,
  caller,
  method,
  params,
}: ArtifactRequest & { method: string }): Promise<Answer> {
  const job = await getVisibleJob(ctx.db, org, caller, params)
  const { state, blob_key, mime_type, path, file_size } = await getArtifact(ctx, org, job, params.artifact)
  const isShown = state === 'finished' && isPicture(mime_type) && file_size <= largestPicture
  const key = isShown ? blob_key : null
  const stream = key === null ? null : method === 'HEAD' ? Readable.from([]) : await ctx.blobs.get(key)
  if (stream === null) throw notFound('The artifact is no picture that pages show')
  const headers = {
    'Content-Type': mime_type,
    'Content-Length': String(file_size),
    'Content-Disposition': disposition(filenameOf(path)),
    'Content-Security-Policy': filePolicy,
    'Cache-Control': 'private, no-store',
  }
  return { status: 200, stream, headers }
}

async function answerDelete({ ctx, org, caller, params }: ArtifactRequest): Promise<Answer> {
  const job = await getBuildableJob(ctx.db, org, caller, params)
  await deleteArtifact(ctx, org.id, caller, await getArtifact(ctx, org, job, params.artifact))
  return noContent()
}

/** Spec, Limits: for a file in the customer's own store, the object's public URL. */
function downloadUrl(
  ctx: Context,
  { id, state, upload_destination, external_url, blob_key }: StoredArtifact,
): string {
  if (state === 'expired') throw notFound('The artifact has expired')
  if (state !== 'finished') throw notFound('The file of the artifact has not been uploaded')
  if (upload_destination === '' && blob_key !== null) return fileUrl(ctx, id, downloadSeconds)
  if (external_url === null) throw notFound('The file of the artifact has no public address')
  return external_url
}

async function getArtifact(
  ctx: Context,
  org: Organization,
  job: JobAddress,
  id: string,
): Promise<StoredArtifact> {
  const artifact = await artifacts.findInJob(ctx.db, org.id, job.id, id)
  if (artifact === undefined) throw notFound('No artifact found')
  return artifact
}

const urlOfBuild = (ctx: Context, org: Organization, job: JobAddress) =>
  buildUrl(ctx.config.url, org.slug, job.pipeline_slug, job.build_number)

export const artifactRoutes = [
  listOfBuildRoute,
  route({ ...listingInJob, permission: 'member', url: '/v2/organizations/:org/jobs/:job/artifacts' }),
  route({
    ...listingInJob,
    permission: 'read_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/artifacts',
  }),
  route({ ...get, permission: 'member', url: '/v2/organizations/:org/jobs/:job/artifacts/:artifact' }),
  route({
    ...get,
    permission: 'read_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/artifacts/:artifact',
  }),
  route({
    ...download,
    permission: 'member',
    url: '/v2/organizations/:org/jobs/:job/artifacts/:artifact/download',
  }),
  route({
    ...download,
    permission: 'read_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/artifacts/:artifact/download',
  }),
  route({
    ...image,
    permission: 'member',
    url: '/v2/organizations/:org/jobs/:job/artifacts/:artifact/image',
  }),
  route({
    ...image,
    permission: 'read_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/artifacts/:artifact/image',
  }),
  route({ ...deletion, permission: 'member', url: '/v2/organizations/:org/jobs/:job/artifacts/:artifact' }),
  route({
    ...deletion,
    permission: 'build_pipeline',
    url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/jobs/:job/artifacts/:artifact',
  }),
  getFileRoute,
]
