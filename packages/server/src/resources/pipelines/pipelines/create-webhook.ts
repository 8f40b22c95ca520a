// Creates the webhook of a pipeline at the host of its repository, with the token of the host's connection.
import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { Context, RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { forbidden, refused } from '../../../lib/errors.ts'
import { OutboundError, type OutboundRequest } from '../../../lib/outbound.ts'
import { TokenRefused, type HostToken, type Permissions } from '../../../source-hosts/host.ts'
import { hostOfType } from '../../../source-hosts/hosts.ts'
import { requestTo } from '../../../source-hosts/api.ts'
import * as connections from '../repository_connections/queries.ts'
import { hostOf, locate } from '../../../source-hosts/settings.ts'
import type { PipelineRow } from './queries.ts'
import { openWebhookToken } from './sealed.ts'

/** Uses the organization's token at the host, so only administrators may do it. */
export async function createWebhook(
  { ctx, org, caller }: RequestContext,
  pipeline: PipelineRow,
): Promise<void> {
  const connection = await connections.findByHost(ctx.db, org.id, hostOf(pipeline.repository))
  const host = connection && hostOfType(connection.type)
  const creationRequest = host?.webhook.creationRequest
  if (pipeline.provider_id === 'private' || creationRequest === null) {
    throw refused('Auto-creating webhooks is not supported for your repository.')
  }
  if (connection === undefined || creationRequest === undefined || !host?.token) throw failed(noToken)
  if (org.role !== 'admin') throw forbidden()
  const repository = locate(pipeline.repository)?.path ?? ''
  const request = creationRequest({
    repository,
    url: `${ctx.config.url}/deliver/${openWebhookToken(ctx.keys, pipeline)}`,
    secret: secretOf(ctx, connection),
  })
  const token = await findToken(ctx, host.token, connection, repository, request.permissions ?? {})
  const headers = host.token.apiHeaders(token)
  const problem = await send(ctx, requestTo(connection.api_url, headers, request))
  if (problem !== null) throw failed(problem)
  await inTransaction(ctx.db, (trx) =>
    recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'PIPELINE_UPDATED',
      subject: { type: 'Pipeline', uuid: pipeline.id, name: pipeline.name },
      data: { webhook_created: true },
    }),
  )
}

const noToken = 'No repository connection with a token belongs to its host.'

async function findToken(
  ctx: Context,
  host: HostToken,
  connection: connections.ConnectionRow,
  repository: string,
  permissions: Permissions,
): Promise<string> {
  try {
    const token = await host.find(ctx, connection, repository, permissions)
    if (token !== null) return token
  } catch (error) {
    throw error instanceof TokenRefused ? failed(error.message) : error
  }
  throw failed(noToken)
}

const failed = (why: string) => refused(`Webhooks could not be created for your repository. ${why}`)

function secretOf(ctx: Context, connection: connections.ConnectionRow): string | null {
  const { webhook_secret_sealed: sealed, webhook_secret_key_id: keyId } = connection
  return sealed !== null && keyId !== null ? ctx.keys.open(sealed, keyId) : null
}

async function send(ctx: Context, request: OutboundRequest): Promise<string | null> {
  try {
    const { status } = await ctx.outbound.send(request)
    return status >= 200 && status < 300 ? null : `The host answered ${status}.`
  } catch (error) {
    if (error instanceof OutboundError) return error.message
    throw error
  }
}
