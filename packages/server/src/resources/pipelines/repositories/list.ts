// Asks the host of a connection for the repositories that its token or App sees. One request of ours is one of the host.
import type { Context } from '../../../context.ts'
import { refused, unavailable } from '../../../lib/errors.ts'
import { OutboundError, type OutboundResponse } from '../../../lib/outbound.ts'
import {
  TokenRefused,
  type HostRepository,
  type HostToken,
  type RepositoryApi,
  type WantedRepositories,
} from '../../../source-hosts/host.ts'
import { hostOfType } from '../../../source-hosts/hosts.ts'
import { hasNextPage, isFullName } from '../../../source-hosts/repositories.ts'
import type { ConnectionRow } from '../repository_connections/queries.ts'

interface Wanted extends WantedRepositories {
  /** Only the one with this full name. */
  repository: string | null
}

interface Found {
  repositories: HostRepository[]
  hasNext: boolean
}

/** A hundred repositories are about 600 KB at GitHub. */
const mostAnswerBytes = 4 * 1024 * 1024
const permissions = { metadata: 'read' } as const
const nothing: Found = { repositories: [], hasNext: false }

export async function listRepositories(
  ctx: Context,
  connection: ConnectionRow,
  wanted: Wanted,
): Promise<Found> {
  const { repositories: api, token, name } = hostOfType(connection.type)
  if (api === null || token === null) throw refused(`A ${name} server has no list of its repositories.`)
  const { repository } = wanted
  if (repository === null) {
    const answer = await ask(ctx, connection, token, api.listPath(wanted))
    if (answer.status !== 200) throw refusalOf(answer)
    const body = parse(answer)
    return { repositories: api.readList(body) ?? refuseAnswer(), hasNext: hasNextPage(answer, body) }
  }
  return isFullName(repository) ? find(ctx, connection, token, api, repository) : nothing
}

async function find(
  ctx: Context,
  connection: ConnectionRow,
  token: HostToken,
  api: RepositoryApi,
  fullName: string,
): Promise<Found> {
  const answer = await ask(ctx, connection, token, api.findPath(fullName))
  // A repository that was renamed has a redirect, and is no longer the one that was asked for.
  if (answer.status === 404 || (answer.status >= 300 && answer.status < 400)) return nothing
  if (answer.status !== 200) throw refusalOf(answer)
  const one = api.readOne(parse(answer)) ?? refuseAnswer()
  const isIt = one.full_name.toLowerCase() === fullName.toLowerCase()
  return isIt ? { repositories: [one], hasNext: false } : nothing
}

async function ask(
  ctx: Context,
  connection: ConnectionRow,
  host: HostToken,
  path: string,
): Promise<OutboundResponse> {
  try {
    const token = await host.find(ctx, connection, null, permissions)
    if (token === null) throw refused('The connection has no token.')
    const answer = await ctx.outbound.send({
      method: 'GET',
      url: `${connection.api_url}${path}`,
      headers: host.apiHeaders(token),
      body: null,
      keptBytes: mostAnswerBytes,
    })
    if (answer.status === 401) host.evict(ctx, connection, null, permissions)
    return answer
  } catch (error) {
    if (error instanceof TokenRefused) throw failureOf(error.message, error.isPassing)
    if (error instanceof OutboundError) throw failureOf(error.message, error.kind === 'failed')
    throw error
  }
}

const failureOf = (message: string, isPassing: boolean) =>
  isPassing ? unavailable(message) : refused(message)

function refusalOf({ status, headers, body }: OutboundResponse): Error {
  const isLimited = status === 429 || (status === 403 && headers['x-ratelimit-remaining'] === '0')
  const words = body.toString().slice(0, 300).replace(/\s+/g, ' ')
  const message = `The host answered ${status}${hints[status] ?? ''}${words === '' ? '' : `: ${words}`}`
  return failureOf(message, isLimited || status >= 500)
}

const hints: Readonly<Record<number, string>> = {
  401: ' (is the token valid?)',
  403: ' (may the token list repositories?)',
}

function parse({ body, isCut }: OutboundResponse): unknown {
  try {
    return isCut ? null : JSON.parse(body.toString())
  } catch {
    return null
  }
}

function refuseAnswer(): never {
  throw unavailable('The host answered with something that is not a list of repositories.')
}
