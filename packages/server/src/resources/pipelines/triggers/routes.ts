import { Type } from 'typebox'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { hasScope } from '../../../auth/caller.ts'
import type { Keyring } from '../../../auth/keyring.ts'
import { pipelineAccess } from '../../../auth/pipeline-access.ts'
import type { Context } from '../../../context.ts'
import { created, noContent, ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import { presentTrigger } from './present.ts'
import * as triggers from './queries.ts'
import type { TriggerRow } from './queries.ts'
import { CreateTrigger, Trigger, TriggerWithSecret, UpdateTrigger } from './schema.ts'
import { createTrigger, deleteTrigger, rotateTrigger, updateTrigger } from './update.ts'

const listTriggersRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/triggers',
  summary: 'List the triggers of a pipeline, newest first',
  scope: 'read_pipelines',
  permission: 'read_pipeline',
  paging: 'pages',
  answers: { 200: Type.Array(Trigger) },
  async handler({ ctx, org, caller, params, pipelineId, url }) {
    const page = readPage(url)
    const rows = await triggers.listInPipeline(ctx.db, org.id, params.pipeline, page)
    const keys = await keysFor(ctx, org, caller, pipelineId)
    return pageAnswer(page, rows, (row) => presentTrigger(ctx.config.url, org.slug, row, keys))
  },
})

const getTriggerRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/triggers/:trigger',
  summary: 'Get a trigger of a pipeline',
  scope: 'read_pipelines',
  permission: 'read_pipeline',
  answers: { 200: Trigger },
  async handler({ ctx, org, caller, params, pipelineId }) {
    const trigger = await triggers.findInPipeline(ctx.db, org.id, params.pipeline, params.trigger)
    if (trigger === undefined) throw notFound('No trigger found')
    const keys = await keysFor(ctx, org, caller, pipelineId)
    return ok(presentTrigger(ctx.config.url, org.slug, trigger, keys))
  },
})

/** null: the caller may not see where payloads are sent. */
async function keysFor(
  ctx: Context,
  org: Organization,
  caller: Caller,
  pipelineId: string,
): Promise<Keyring | null> {
  if (!hasScope(caller, 'write_pipelines')) return null
  return (await pipelineAccess(ctx.db, org, caller, pipelineId)) === 'manage' ? ctx.keys : null
}

const createTriggerRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/pipelines/:pipeline/triggers',
  summary: 'Create a trigger: an address that turns the webhooks of any program into builds',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  body: CreateTrigger,
  answers: { 201: TriggerWithSecret },
  errors: { 422: 'The body is not valid, or a pointer or the condition cannot be read.' },
  async handler({ ctx, org, caller, params, body }) {
    const changed = await createTrigger({ ctx, org, caller }, params.pipeline, body)
    return created(presentChanged(ctx, org, changed))
  },
})

const updateTriggerRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/pipelines/:pipeline/triggers/:trigger',
  summary: 'Update a trigger',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  body: UpdateTrigger,
  answers: { 200: TriggerWithSecret },
  errors: { 422: 'The body is not valid, or a pointer or the condition cannot be read.' },
  async handler({ ctx, org, caller, params, body }) {
    return ok(presentChanged(ctx, org, await updateTrigger({ ctx, org, caller }, params, body)))
  },
})

const rotateTriggerRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/pipelines/:pipeline/triggers/:trigger/rotate',
  summary: 'Give a trigger a new address and, if it has one, a new secret; the earlier ones stop at once',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  answers: { 200: TriggerWithSecret },
  async handler({ ctx, org, caller, params }) {
    return ok(presentChanged(ctx, org, await rotateTrigger({ ctx, org, caller }, params)))
  },
})

const presentChanged = (
  ctx: Context,
  org: Organization,
  { trigger, secret }: { trigger: TriggerRow; secret: string | undefined },
) => ({
  ...presentTrigger(ctx.config.url, org.slug, trigger, ctx.keys),
  ...(secret === undefined ? {} : { secret }),
})

const deleteTriggerRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/pipelines/:pipeline/triggers/:trigger',
  summary: 'Delete a trigger with its deliveries',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  answers: { 204: null },
  async handler({ ctx, org, caller, params }) {
    await deleteTrigger({ ctx, org, caller }, params)
    return noContent()
  },
})

export const triggerRoutes = [
  listTriggersRoute,
  getTriggerRoute,
  createTriggerRoute,
  updateTriggerRoute,
  rotateTriggerRoute,
  deleteTriggerRoute,
]
