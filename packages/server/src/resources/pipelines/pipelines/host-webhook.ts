// The webhook of a pipeline at the host of its repository, created and deleted with the token of the host's connection.
import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { Context, RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { forbidden, notFound, refused } from '../../../lib/errors.ts'
import { OutboundError, type OutboundRequest, type OutboundResponse } from '../../../lib/outbound.ts'
import { TokenRefused, type ApiRequest, type HostToken } from '../../../source-hosts/host.ts'
import { hostOfType } from '../../../source-hosts/hosts.ts'
import { requestTo } from '../../../source-hosts/api.ts'
import * as connections from '../repository_connections/queries.ts'
import { locate } from '../../../source-hosts/settings.ts'
import * as pipelines from './queries.ts'
import { webhookIdOf } from './rules.ts'
import { openWebhookToken } from './sealed.ts'

/** Uses the organization's token at the host, so only administrators may do it. */
export async function createWebhook(context: RequestContext, pipeline: pipelines.PipelineRow): Promise<void> {
  const { ctx, caller, org } = context
  const target = await findTarget(context, pipeline, pipeline.repository, refusedCreation)
  if (webhookIdOf(pipeline) !== null) throw refusedCreation('A webhook already exists for this repository.')
  const response = await send(ctx, await target.requestFor('POST', ''), refusedCreation)
  if (response.status < 200 || response.status >= 300) {
    throw refusedCreation(`The host answered ${response.status}.`)
  }
  await inTransaction(ctx.db, async (trx) => {
    await pipelines.updateInOrg(trx, org.id, pipeline.id, {
      host_webhook_id: readId(response.body),
      host_webhook_repository: pipeline.repository,
    })
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'PIPELINE_UPDATED',
      subject: { type: 'Pipeline', uuid: pipeline.id, name: pipeline.name },
      data: { webhook_created: true },
    })
  })
}

/** A webhook that the host no longer has is deleted here alone. */
export async function deleteWebhook(context: RequestContext, pipeline: pipelines.PipelineRow): Promise<void> {
  const { ctx, caller, org } = context
  const { host_webhook_id: id, host_webhook_repository: repository } = pipeline
  if (id === null || repository === null) throw notFound('No webhook found')
  const target = await findTarget(context, pipeline, repository, refusedDeletion)
  const { status } = await send(
    ctx,
    await target.requestFor('DELETE', `/${encodeURIComponent(id)}`),
    refusedDeletion,
  )
  if ((status < 200 || status >= 300) && status !== 404) throw refusedDeletion(`The host answered ${status}.`)
  await inTransaction(ctx.db, async (trx) => {
    await pipelines.updateInOrg(trx, org.id, pipeline.id, {
      host_webhook_id: null,
      host_webhook_repository: null,
    })
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'PIPELINE_UPDATED',
      subject: { type: 'Pipeline', uuid: pipeline.id, name: pipeline.name },
      data: { webhook_created: false },
    })
  })
}

type Refusal = (why: string) => Error

async function findTarget(
  { ctx, org }: RequestContext,
  pipeline: pipelines.PipelineRow,
  repository: string,
  refusal: Refusal,
) {
  const connection = await connections.findOfRepository(ctx.db, org.id, repository)
  const host = connection && hostOfType(connection.type)
  const creationRequest = host?.webhook.creationRequest
  const isPrivate = pipeline.provider_id === 'private' && repository === pipeline.repository
  if (isPrivate || creationRequest === null) {
    throw refused('Auto-creating webhooks is not supported for your repository.')
  }
  if (connection === undefined || creationRequest === undefined || !host?.token) throw refusal(noToken)
  if (org.role !== 'admin') throw forbidden()
  const { token: hostToken } = host
  const path = locate(repository)?.path ?? ''
  const request = creationRequest({
    repository: path,
    url: `${ctx.config.url}/deliver/${openWebhookToken(ctx.keys, pipeline)}`,
    secret: secretOf(ctx, connection),
  })
  return {
    async requestFor(method: 'POST' | 'DELETE', below: string): Promise<OutboundRequest> {
      const token = await findToken(ctx, hostToken, connection, path, request, refusal)
      const sent = requestTo(connection.api_url, hostToken.apiHeaders(token), request)
      return method === 'POST'
        ? { ...sent, keptBytes: 64 * 1024 }
        : { ...sent, method, url: `${sent.url}${below}`, body: null }
    },
  }
}

const noToken = 'No repository connection with a token belongs to its host.'

async function findToken(
  ctx: Context,
  host: HostToken,
  connection: connections.ConnectionRow,
  repository: string,
  { permissions }: ApiRequest,
  refusal: Refusal,
): Promise<string> {
  try {
    const token = await host.find(ctx, connection, repository, permissions ?? {})
    if (token !== null) return token
  } catch (error) {
    throw error instanceof TokenRefused ? refusal(error.message) : error
  }
  throw refusal(noToken)
}

const refusedCreation: Refusal = (why) => refused(`Webhooks could not be created for your repository. ${why}`)

const refusedDeletion: Refusal = (why) =>
  refused(`The webhook of your repository could not be deleted. ${why}`)

function secretOf(ctx: Context, connection: connections.ConnectionRow): string | null {
  const { webhook_secret_sealed: sealed, webhook_secret_key_id: keyId } = connection
  return sealed !== null && keyId !== null ? ctx.keys.open(sealed, keyId) : null
}

async function send(ctx: Context, request: OutboundRequest, refusal: Refusal): Promise<OutboundResponse> {
  try {
    return await ctx.outbound.send(request)
  } catch (error) {
    throw error instanceof OutboundError ? refusal(error.message) : error
  }
}

/** Hosts answer with the webhook they made: its `id`, or at Bitbucket its `uuid`. Null: it cannot be deleted here. */
function readId(body: Buffer): string | null {
  try {
    const { id, uuid } = JSON.parse(body.toString()) as { id?: unknown; uuid?: unknown }
    const found = id ?? uuid
    return typeof found === 'number' || typeof found === 'string' ? String(found).slice(0, 200) : null
  } catch {
    return null
  }
}
