// Creates the webhook of a pipeline at the host of its repository, with the token of the host's connection.
import { byCaller, recordAudit } from '../../audit/record.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { forbidden, refused } from '../../lib/errors.ts'
import { OutboundError, type OutboundRequest } from '../../lib/outbound.ts'
import { accessToken } from '../repository_connections/access-token.ts'
import { TokenRefused } from '../repository_connections/installation-token.ts'
import * as connections from '../repository_connections/queries.ts'
import { apiHeaders, kindOf, type HostKind } from '../repository_connections/rules.ts'
import { hostOf, locate } from './provider.ts'
import type { PipelineRow } from './queries.ts'
import { openWebhookToken } from './sealed.ts'

/** It is done in the name of the organization, and reaches as far as its token does: administrators only. */
export async function createWebhook(
  ctx: Context,
  org: Organization,
  caller: Caller,
  pipeline: PipelineRow,
): Promise<void> {
  const connection = await connections.findByHost(ctx.db, org.id, hostOf(pipeline.repository))
  const kind = connection === undefined ? undefined : kindOf(connection.type)
  if (pipeline.provider_id === 'private' || kind === 'git') {
    throw refused('Auto-creating webhooks is not supported for your repository.')
  }
  if (connection === undefined || kind === undefined) throw failed(noToken)
  if (org.role !== 'admin') throw forbidden()
  const repository = locate(pipeline.repository)?.path ?? ''
  const request = requestFor(kind, {
    api: connection.api_url,
    token: await tokenFor(ctx, connection, repository),
    repository,
    url: `${ctx.config.url}/deliver/${openWebhookToken(ctx.keys, pipeline)}`,
    secret: secretOf(ctx, connection),
  })
  const problem = await send(ctx, request)
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

async function tokenFor(
  ctx: Context,
  connection: connections.ConnectionRow,
  repository: string,
): Promise<string> {
  try {
    const token = await accessToken(ctx, connection, repository, { repository_hooks: 'write' })
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

interface Hook {
  api: string
  token: string
  repository: string
  url: string
  secret: string | null
}

function requestFor(kind: Exclude<HostKind, 'git'>, hook: Hook): OutboundRequest {
  const { path, body } = wordsFor(kind, hook)
  return {
    method: 'POST',
    url: `${hook.api}${path}`,
    headers: apiHeaders(kind, hook.token),
    body: JSON.stringify(body),
  }
}

function wordsFor(
  kind: Exclude<HostKind, 'git'>,
  { repository, url, secret }: Hook,
): { path: string; body: object } {
  const path = repository.split('/').map(encodeURIComponent).join('/')
  const config = { url, content_type: 'json', ...(secret === null ? {} : { secret }) }
  switch (kind) {
    case 'github':
      return {
        path: `/repos/${path}/hooks`,
        body: { name: 'web', active: true, events: githubEvents, config },
      }
    case 'gitea':
    case 'forgejo':
      return { path: `/repos/${path}/hooks`, body: { type: kind, active: true, events: giteaEvents, config } }
    case 'gitlab':
      return {
        path: `/projects/${encodeURIComponent(repository)}/hooks`,
        body: { url, push_events: true, tag_push_events: true, merge_requests_events: true, token: secret },
      }
    case 'bitbucket':
      return {
        path: `/repositories/${path}/hooks`,
        body: { description: 'Millrace', url, active: true, events: bitbucketEvents, secret },
      }
  }
}

const giteaEvents = ['push', 'delete', 'pull_request', 'pull_request_sync', 'pull_request_label']

const githubEvents = [
  'push',
  'delete',
  'pull_request',
  'pull_request_review',
  'pull_request_review_comment',
  'issue_comment',
  'merge_group',
  'release',
  'create',
  'deployment',
  'deployment_status',
  'check_run',
  'fork',
]

const bitbucketEvents = [
  'repo:push',
  'pullrequest:created',
  'pullrequest:updated',
  'pullrequest:fulfilled',
  'pullrequest:rejected',
  'pullrequest:approved',
]
