import { Type } from 'typebox'
import { created, noContent, ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { isUuid } from '../../../lib/ids.ts'
import * as favorites from '../../people/favorites/queries.ts'
import { IncludeViewer, Uuid } from '../../schema.ts'
import { createPipeline } from './create.ts'
import { deletePipeline } from './delete.ts'
import { createWebhook, deleteWebhook, rotateWebhookSecret } from './host-webhook.ts'
import { presentGithubWebhooks, presentPipeline, presentViewer } from './present.ts'
import * as pipelines from './queries.ts'
import { CreatePipeline, GithubWebhooks, Pipeline, UpdatePipeline } from './schema.ts'
import {
  archivePipeline,
  disableGithubWebhooks,
  enableGithubWebhooks,
  requireGithub,
  unarchivePipeline,
  updatePipeline,
} from './update.ts'

/** A configuration of 1 MiB may be longer as a JSON string. */
const bodyLimitBytes = 4 * 1024 * 1024

const listPipelinesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines',
  summary: 'List pipelines that the caller may see, oldest first',
  scope: 'read_pipelines',
  permission: 'member',
  query: {
    name: Type.Optional(Type.String({ description: 'Part of the name, in any case.' })),
    repository: Type.Optional(Type.String({ description: 'Part of the repository, in any case.' })),
    include_archived: Type.Optional(Type.Boolean({ description: 'Archived ones too. Default false.' })),
    archived: Type.Optional(Type.Boolean({ description: 'Only archived ones. Default false.' })),
    cluster_id: Type.Optional(Type.String({ description: 'Those of this cluster.' })),
    id: Type.Optional(Type.Array(Uuid, { maxItems: 100, description: 'Those with one of these UUIDs.' })),
    tags: Type.Optional(Type.Array(Type.String(), { description: 'Those with all of these tags.' })),
    ...IncludeViewer,
  },
  paging: 'pages',
  answers: { 200: Type.Array(Pipeline) },
  async handler({ ctx, org, caller, query, url }) {
    const page = readPage(url)
    const { name, repository, include_archived: includeArchived = false, tags, id: ids } = query
    const { archived: archivedOnly = false, cluster_id: clusterId } = query
    if (clusterId !== undefined && !isUuid(clusterId)) return pageAnswer(page, [], () => null)
    const filter = { name, repository, includeArchived, archivedOnly, clusterId, tags, ids, ...page }
    const rows = await pipelines.listVisible(ctx.db, org, caller, filter)
    const favoriteIds = query.include_viewer
      ? await favorites.listOfUser(ctx.db, org.id, caller.user.id)
      : null
    const shown = new Map<string, unknown>()
    for (const row of rows.slice(0, page.perPage)) {
      const pipeline = await presentPipeline(ctx.config.url, org.slug, row, { caller, keys: ctx.keys })
      shown.set(row.id, { ...pipeline, ...(favoriteIds === null ? {} : presentViewer(row, favoriteIds)) })
    }
    return pageAnswer(page, rows, (row) => shown.get(row.id))
  },
})

const getPipelineRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline',
  summary: 'Get a pipeline',
  scope: 'read_pipelines',
  permission: 'read_pipeline',
  query: IncludeViewer,
  answers: { 200: Pipeline },
  async handler({ ctx, org, caller, params, query }) {
    const pipeline = await pipelines.getBySlug(ctx.db, org, caller, params.pipeline)
    const shown = await presentPipeline(ctx.config.url, org.slug, pipeline, { caller, keys: ctx.keys })
    if (!query.include_viewer) return ok(shown)
    const favoriteIds = await favorites.listOfUser(ctx.db, org.id, caller.user.id)
    return ok({ ...shown, ...presentViewer(pipeline, favoriteIds) })
  },
})

const createPipelineRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/pipelines',
  summary: 'Create a pipeline',
  scope: 'write_pipelines',
  permission: 'member',
  body: CreatePipeline,
  badBody: 'errors',
  bodyLimitBytes,
  answers: { 201: Pipeline },
  errors: {
    403: 'Teams decide who creates pipelines, and none of the caller does; or the caller may not use the cluster.',
    422: 'The body is not valid; `errors` says which fields and why. The configuration comes with line and column.',
  },
  async handler({ ctx, org, caller, body }) {
    const pipeline = await createPipeline({ ctx, org, caller }, body)
    return created(await presentPipeline(ctx.config.url, org.slug, pipeline, { caller, keys: ctx.keys }))
  },
})

const updatePipelineRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/pipelines/:pipeline',
  summary: 'Update a pipeline; a new name without a slug makes a new slug',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  body: UpdatePipeline,
  badBody: 'errors',
  bodyLimitBytes,
  answers: { 200: Pipeline },
  errors: { 422: 'The body is not valid; `errors` says which fields and why. Or the pipeline is archived.' },
  async handler({ ctx, org, caller, params, body }) {
    const pipeline = await updatePipeline({ ctx, org, caller }, params.pipeline, body)
    return ok(await presentPipeline(ctx.config.url, org.slug, pipeline, { caller, keys: ctx.keys }))
  },
})

const deletePipelineRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/pipelines/:pipeline',
  summary: 'Delete a pipeline with its builds and schedules',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  answers: { 204: null },
  async handler({ ctx, org, caller, params }) {
    await deletePipeline({ ctx, org, caller }, params.pipeline)
    return noContent()
  },
})

const archivePipelineRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/pipelines/:pipeline/archive',
  summary: 'Archive a pipeline: it is no longer listed, built or changed',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  answers: { 200: Pipeline },
  errors: { 422: 'The pipeline is archived already.' },
  async handler({ ctx, org, caller, params }) {
    const pipeline = await archivePipeline({ ctx, org, caller }, params.pipeline)
    return ok(await presentPipeline(ctx.config.url, org.slug, pipeline, { caller, keys: ctx.keys }))
  },
})

const unarchivePipelineRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/pipelines/:pipeline/unarchive',
  summary: 'Take a pipeline back from the archive',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  answers: { 200: Pipeline },
  errors: { 422: 'The pipeline is not archived.' },
  async handler({ ctx, org, caller, params }) {
    const pipeline = await unarchivePipeline({ ctx, org, caller }, params.pipeline)
    return ok(await presentPipeline(ctx.config.url, org.slug, pipeline, { caller, keys: ctx.keys }))
  },
})

const createWebhookRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/pipelines/:pipeline/webhook',
  summary: 'Create the webhook at the host of the repository',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  answers: { 201: Pipeline },
  callsOut: true,
  errors: {
    403: 'Only administrators may use the token of a connection.',
    422: 'No connection with a token belongs to the host of the repository, or the host refused.',
  },
  async handler({ ctx, org, caller, params }) {
    const pipeline = await pipelines.getBySlug(ctx.db, org, caller, params.pipeline)
    await createWebhook({ ctx, org, caller }, pipeline)
    const after = await pipelines.getBySlug(ctx.db, org, caller, pipeline.slug)
    return created(await presentPipeline(ctx.config.url, org.slug, after, { caller, keys: ctx.keys }))
  },
})

const rotateWebhookSecretRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/pipelines/:pipeline/webhook/rotate',
  summary: 'Give the webhook at the host of the repository another secret',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  answers: { 200: Pipeline },
  callsOut: true,
  errors: {
    403: 'Only administrators may use the token of a connection.',
    422: 'No connection with a token belongs to the host of the repository, the host has no webhook with the address, or it refused.',
  },
  async handler({ ctx, org, caller, params }) {
    const pipeline = await pipelines.getBySlug(ctx.db, org, caller, params.pipeline)
    await rotateWebhookSecret({ ctx, org, caller }, pipeline)
    const after = await pipelines.getBySlug(ctx.db, org, caller, pipeline.slug)
    return ok(await presentPipeline(ctx.config.url, org.slug, after, { caller, keys: ctx.keys }))
  },
})

const deleteWebhookRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/pipelines/:pipeline/webhook',
  summary: 'Delete the webhook that was created at the host of the repository',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  answers: { 204: null },
  callsOut: true,
  errors: {
    403: 'Only administrators may use the token of a connection.',
    422: 'No connection with a token belongs to the host of the repository, or the host refused.',
  },
  async handler({ ctx, org, caller, params }) {
    const pipeline = await pipelines.getBySlug(ctx.db, org, caller, params.pipeline)
    await deleteWebhook({ ctx, org, caller }, pipeline)
    return noContent()
  },
})

const getGithubWebhooksRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/github-webhooks',
  summary: 'Get whether events from GitHub make builds',
  scope: 'read_pipelines',
  permission: 'edit_pipeline',
  answers: { 200: GithubWebhooks },
  async handler({ ctx, org, caller, params }) {
    const pipeline = await pipelines.getBySlug(ctx.db, org, caller, params.pipeline)
    requireGithub(pipeline)
    return ok(presentGithubWebhooks(ctx.config.url, org.slug, pipeline))
  },
})

const enableGithubWebhooksRoute = route({
  method: 'PUT',
  url: '/v2/organizations/:org/pipelines/:pipeline/github-webhooks',
  summary: 'Let events from GitHub make builds',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  answers: { 200: GithubWebhooks },
  async handler({ ctx, org, caller, params }) {
    const pipeline = await enableGithubWebhooks({ ctx, org, caller }, params.pipeline)
    return ok(presentGithubWebhooks(ctx.config.url, org.slug, pipeline))
  },
})

const disableGithubWebhooksRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/pipelines/:pipeline/github-webhooks',
  summary: 'Stop events from GitHub from making builds',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  answers: { 200: GithubWebhooks },
  async handler({ ctx, org, caller, params }) {
    const pipeline = await disableGithubWebhooks({ ctx, org, caller }, params.pipeline)
    return ok(presentGithubWebhooks(ctx.config.url, org.slug, pipeline))
  },
})

export const pipelineRoutes = [
  listPipelinesRoute,
  getPipelineRoute,
  createPipelineRoute,
  updatePipelineRoute,
  deletePipelineRoute,
  archivePipelineRoute,
  unarchivePipelineRoute,
  createWebhookRoute,
  rotateWebhookSecretRoute,
  deleteWebhookRoute,
  getGithubWebhooksRoute,
  enableGithubWebhooksRoute,
  disableGithubWebhooksRoute,
]
