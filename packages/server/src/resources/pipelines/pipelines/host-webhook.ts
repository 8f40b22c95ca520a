// The webhook of a pipeline at the host of its repository, created and deleted with the token of the host's connection.
import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Trx } from '../../../db/pool.ts'
import { ApiError, forbidden, notFound, refused } from '../../../lib/errors.ts'
import { HookRefusal, listOurHooks, openHooks, parse, webhookUrlOf } from './host-hooks.ts'
import { forgetHookState } from './hook-state.ts'
import * as pipelines from './queries.ts'
import { webhookIdOf } from './rules.ts'
import {
  confirmWebhookSecret,
  deleteWebhookSecrets,
  findSecretTime,
  makeWebhookSecret,
} from './webhook-secrets.ts'

/**
 * Uses the organization's token at the host, so only administrators may do it. A webhook that the host has with this address is
 * updated. It gets a secret of its own. Afterwards the host sends its test, if it has one; whether it comes shows in the health of the repository.
 */
export async function createWebhook(context: RequestContext, pipeline: pipelines.PipelineRow): Promise<void> {
  const { ctx, org } = context
  const id = await explaining(refusedCreation, async () => {
    const hooks = await openHooks(ctx, org.id, pipeline.repository)
    requireAdmin(context)
    const ours = await listOurHooks(ctx, hooks, pipeline)
    const known = webhookIdOf(pipeline)
    const isKnown = known !== null && ours.some((hook) => hook.id === known)
    if (isKnown && (await findSecretTime(ctx.db, pipeline)) !== null) {
      throw refusedCreation('A webhook already exists for this repository.')
    }
    const taken = ours.find((hook) => hook.id === known) ?? ours[0]
    const wanted = {
      repository: hooks.repository,
      url: webhookUrlOf(ctx, pipeline),
      secret: await makeWebhookSecret(ctx, pipeline),
    }
    const answer = await hooks.send(
      taken === undefined ? hooks.api.createRequest(wanted) : hooks.api.updateRequest(taken.id, wanted),
    )
    return taken?.id ?? hooks.api.readOne(parse(answer))?.id ?? null
  })
  const hook = id === null ? null : { id, repository: pipeline.repository }
  await keepWebhook(context, pipeline, hook, { webhook_created: true }, (trx, at) =>
    confirmWebhookSecret(trx, pipeline, at),
  )
  // The webhook is there, so a test that fails is no failure of this request.
  if (id !== null) await explaining(refusedTest, () => sendTest(context, pipeline, id)).catch(ignoreRefusal)
}

/** Gives each webhook that the host has with this address another secret. Until it has, it may sign with the old one. */
export async function rotateWebhookSecret(
  context: RequestContext,
  pipeline: pipelines.PipelineRow,
): Promise<void> {
  const { ctx, org } = context
  const ids = await explaining(refusedRotation, async () => {
    const hooks = await openHooks(ctx, org.id, pipeline.repository)
    requireAdmin(context)
    const ours = await listOurHooks(ctx, hooks, pipeline)
    if (ours.length === 0) throw new HookRefusal(`${hooks.hostName} has no webhook with its address.`)
    const secret = await makeWebhookSecret(ctx, pipeline)
    const wanted = { repository: hooks.repository, url: webhookUrlOf(ctx, pipeline), secret }
    for (const { id } of ours) await hooks.send(hooks.api.updateRequest(id, wanted))
    return ours.map(({ id }) => id)
  })
  const known = webhookIdOf(pipeline)
  const [id = null] = known !== null && ids.includes(known) ? [known] : ids
  const hook = id === null ? null : { id, repository: pipeline.repository }
  await keepWebhook(context, pipeline, hook, { webhook_secret_rotated: true }, (trx, at) =>
    confirmWebhookSecret(trx, pipeline, at),
  )
}

/** A webhook that the host no longer has is deleted here alone. */
export async function deleteWebhook(context: RequestContext, pipeline: pipelines.PipelineRow): Promise<void> {
  const { ctx, org } = context
  const { host_webhook_id: id, host_webhook_repository: repository } = pipeline
  if (id === null || repository === null) throw notFound('No webhook found')
  await explaining(refusedDeletion, async () => {
    const hooks = await openHooks(ctx, org.id, repository)
    requireAdmin(context)
    await hooks.send(hooks.api.deleteRequest(hooks.repository, id), 404)
  })
  await keepWebhook(context, pipeline, null, { webhook_created: false }, (trx) =>
    deleteWebhookSecrets(trx, pipeline),
  )
}

/** Has the host send its test to the pipeline, so whoever may edit the pipeline may do it. */
export const testWebhook = (context: RequestContext, pipeline: pipelines.PipelineRow): Promise<void> =>
  explaining(refusedTest, async () => {
    const { ctx, org } = context
    const hooks = await openHooks(ctx, org.id, pipeline.repository)
    const ours = await listOurHooks(ctx, hooks, pipeline)
    const hook = ours.find(({ isActive }) => isActive)
    if (hook === undefined) {
      throw new HookRefusal(`${hooks.hostName} has no webhook with its address that is switched on.`)
    }
    if (hooks.api.testRequest === null) {
      throw new HookRefusal(`${hooks.hostName} has no test of webhooks in its API. Push something instead.`)
    }
    await hooks.send(hooks.api.testRequest(hooks.repository, hook.id))
  })

async function sendTest({ ctx, org }: RequestContext, pipeline: pipelines.PipelineRow, id: string) {
  const hooks = await openHooks(ctx, org.id, pipeline.repository)
  if (hooks.api.testRequest !== null) await hooks.send(hooks.api.testRequest(hooks.repository, id))
}

async function keepWebhook(
  { ctx, caller, org }: RequestContext,
  pipeline: pipelines.PipelineRow,
  hook: { id: string; repository: string } | null,
  audited: Record<string, boolean>,
  keepSecret: (trx: Trx, at: string) => Promise<void>,
): Promise<void> {
  forgetHookState(ctx, pipeline)
  await inTransaction(ctx.db, async (trx) => {
    await keepSecret(trx, ctx.now().toISOString())
    await pipelines.updateInOrg(trx, org.id, pipeline.id, {
      host_webhook_id: hook?.id ?? null,
      host_webhook_repository: hook?.repository ?? null,
    })
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'PIPELINE_UPDATED',
      subject: { type: 'Pipeline', uuid: pipeline.id, name: pipeline.name },
      data: audited,
    })
  })
}

type Refusal = (why: string) => Error

async function explaining<T>(refusal: Refusal, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof HookRefusal)) throw error
    const isUnsupported = error.kind === 'unsupported' && refusal === refusedCreation
    throw isUnsupported
      ? refused('Auto-creating webhooks is not supported for your repository.')
      : refusal(error.message)
  }
}

const refusedCreation: Refusal = (why) => refused(`Webhooks could not be created for your repository. ${why}`)

const refusedDeletion: Refusal = (why) =>
  refused(`The webhook of your repository could not be deleted. ${why}`)

const refusedRotation: Refusal = (why) =>
  refused(`The webhook of your repository could not get another secret. ${why}`)

const refusedTest: Refusal = (why) => refused(`The host could not be asked for its test. ${why}`)

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof ApiError)) throw error
}

function requireAdmin({ org }: RequestContext): void {
  if (org.role !== 'admin') throw forbidden()
}
