// The webhooks of a repository at its host, asked with the token of the host's connection.
import type { Context } from '../../../context.ts'
import { OutboundError, type OutboundResponse } from '../../../lib/outbound.ts'
import { requestTo } from '../../../source-hosts/api.ts'
import type { Hook } from '../../../source-hosts/hooks.ts'
import { TokenRefused, type ApiRequest, type HookApi, type HostToken } from '../../../source-hosts/host.ts'
import { hostOfType } from '../../../source-hosts/hosts.ts'
import { hasNextPage, isFullName } from '../../../source-hosts/repositories.ts'
import { locate, providerOf } from '../../../source-hosts/settings.ts'
import * as connections from '../repository_connections/queries.ts'
import { openWebhookToken, type SealedToken } from './sealed.ts'

/** Why the host cannot be asked, or refuses: a sentence that says what to do about it. */
export class HookRefusal extends Error {
  /** `unsupported`: this host has no webhooks that we could change. `passing`: a later request may succeed. */
  readonly kind: 'unsupported' | 'refused' | 'passing'

  constructor(message: string, kind: 'unsupported' | 'refused' | 'passing' = 'refused') {
    super(message)
    this.kind = kind
  }
}

export interface HostHooks {
  /** For people. */
  hostName: string
  api: HookApi
  connection: connections.ConnectionRow
  /** `owner/name` */
  repository: string
  /** Throws a HookRefusal for an answer that is no success, but `allowed`. */
  send(request: ApiRequest, allowed?: number): Promise<OutboundResponse>
}

const mostAnswerBytes = 1024 * 1024
const mostPages = 4
const longestListMs = 10_000

/** Throws a HookRefusal where there is no connection that could ask. Asks nothing yet. */
export async function openHooks(ctx: Context, orgId: string, repository: string): Promise<HostHooks> {
  const connection = await connections.findOfRepository(ctx.db, orgId, repository)
  const host = connection && hostOfType(connection.type)
  if (connection === undefined && providerOf(repository) === 'private')
    throw new HookRefusal(noToken, 'unsupported')
  if (connection === undefined || host === undefined) throw new HookRefusal(noToken)
  const { hooks: api, token } = host
  if (api === null || token === null) throw new HookRefusal(noToken, 'unsupported')
  if (connection.token_sealed === null && connection.private_key_sealed === null)
    throw new HookRefusal(noToken)
  const path = locate(repository)?.path ?? ''
  if (!isFullName(path)) throw new HookRefusal('The address of the repository has no owner and name.')
  const found = { hostName: host.name, api, connection, repository: path }
  return {
    ...found,
    async send(request, allowed) {
      const answer = await ask(ctx, token, found, request)
      if ((answer.status < 200 || answer.status >= 300) && answer.status !== allowed) {
        throw refusalOf(found, answer)
      }
      return answer
    },
  }
}

const noToken = 'No repository connection with a token belongs to its host.'

/** Those with the address of the pipeline, by whatever name the server was known when they were made. */
export async function listOurHooks(ctx: Context, hooks: HostHooks, pipeline: SealedToken): Promise<Hook[]> {
  const end = `/deliver/${openWebhookToken(ctx.keys, pipeline)}`
  const startedAt = performance.now()
  const ours: Hook[] = []
  for (let page = 1; page <= mostPages; page++) {
    if (performance.now() - startedAt > longestListMs) {
      throw new HookRefusal(`${hooks.hostName} is too slow to list the webhooks.`, 'passing')
    }
    const answer = await hooks.send(hooks.api.listRequest(hooks.repository, page))
    const body = parse(answer)
    const list = hooks.api.readList(body)
    if (list === null) {
      throw new HookRefusal(`${hooks.hostName} answered with something that is not a list of webhooks.`)
    }
    ours.push(...list.filter(({ url }) => url.endsWith(end)))
    if (!hasNextPage(answer, body)) return ours
  }
  if (ours.length > 0) return ours
  const most = mostPages * hooks.api.perPage
  throw new HookRefusal(`The repository has more than ${most} webhooks, and this one is not among the first.`)
}

export const webhookUrlOf = (ctx: Context, pipeline: SealedToken): string =>
  `${ctx.config.url}/deliver/${openWebhookToken(ctx.keys, pipeline)}`

export function parse({ body, isCut }: OutboundResponse): unknown {
  try {
    return isCut ? null : JSON.parse(body.toString())
  } catch {
    return null
  }
}

async function ask(
  ctx: Context,
  host: HostToken,
  { connection, repository }: Pick<HostHooks, 'connection' | 'repository'>,
  request: ApiRequest,
): Promise<OutboundResponse> {
  const permissions = request.permissions ?? {}
  try {
    const token = await host.find(ctx, connection, repository, permissions)
    if (token === null) throw new HookRefusal(noToken)
    const sent = requestTo(connection.api_url, host.apiHeaders(token), request)
    const answer = await ctx.outbound.send({ ...sent, keptBytes: mostAnswerBytes })
    if (answer.status === 401) host.evict(ctx, connection, repository, permissions)
    return answer
  } catch (error) {
    if (error instanceof TokenRefused) {
      throw new HookRefusal(error.message, error.isPassing ? 'passing' : 'refused')
    }
    if (error instanceof OutboundError) {
      throw new HookRefusal(error.message, error.kind === 'failed' ? 'passing' : 'refused')
    }
    throw error
  }
}

function refusalOf(
  { hostName, api, repository }: Pick<HostHooks, 'hostName' | 'api' | 'repository'>,
  { status, headers, body }: OutboundResponse,
): HookRefusal {
  const isLimited = status === 429 || (status === 403 && headers['x-ratelimit-remaining'] === '0')
  if (isLimited) return new HookRefusal(`${hostName} is asked too often. Try again later.`, 'passing')
  switch (status) {
    case 401:
      return new HookRefusal(
        `${hostName} answered 401: the token is wrong or has expired. Give the connection another one.`,
      )
    case 403:
      return new HookRefusal(
        `${hostName} answered 403: the token may not see or change the webhooks of ${repository}. It needs ${api.needs}.`,
      )
    case 404:
      return new HookRefusal(
        `${hostName} answered 404: the token sees no ${repository}, or not its webhooks. It needs ${api.needs}.`,
      )
    default: {
      const words = body.toString().slice(0, 300).replace(/\s+/g, ' ').trim()
      const message = words === '' ? `The host answered ${status}.` : `The host answered ${status}: ${words}`
      return new HookRefusal(message, status >= 500 ? 'passing' : 'refused')
    }
  }
}
