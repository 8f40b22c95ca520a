// The comments of a host, through the connection of a repository.
import type { Context } from '../../../../context.ts'
import type { HostComment } from '../../../../source-hosts/comments.ts'
import { requestTo } from '../../../../source-hosts/api.ts'
import type { ApiRequest, CommentPlace } from '../../../../source-hosts/host.ts'
import { hostOfType } from '../../../../source-hosts/hosts.ts'
import { retryAfter, type Problem } from '../attempt.ts'
import type { Connection } from '../connection.ts'

export class Refused extends Error implements Problem {
  readonly waitSeconds: number

  constructor(message: string, waitSeconds = 0) {
    super(message)
    this.waitSeconds = waitSeconds
  }
}

export interface CommentHost {
  create(place: CommentPlace, text: string): Promise<string>
  /** False: the host knows no such comment. */
  update(place: CommentPlace, id: string, text: string): Promise<boolean>
  /** The id of the first of the newest comments that is the one; null: there is none. */
  find(place: CommentPlace, since: string, isIt: (comment: HostComment) => boolean): Promise<string | null>
}

const mostPages = 5
const mostListBytes = 8 * 1024 * 1024
const mostAnswerBytes = 256 * 1024
const clocksDifferMs = 60 * 60 * 1000

/** Null: the host has no comments, or the connection no token. */
export async function connectTo(
  ctx: Context,
  connection: Connection,
  repository: string,
): Promise<CommentHost | null> {
  const { token: hostToken, comments: api } = hostOfType(connection.type)
  const token = hostToken && api && (await hostToken.find(ctx, connection, repository, {}))
  if (!hostToken || !api || token === null) return null
  const headers = hostToken.apiHeaders(token)
  const ask = (request: ApiRequest, keptBytes: number) =>
    ctx.outbound.send({ ...requestTo(connection.api_url, headers, request), keptBytes })
  return {
    async create(place, text) {
      const made = api.readComment(jsonIn(await ask(api.creationRequest(place, text), mostAnswerBytes)))
      if (made === null) throw new Refused('The host answered without the id of the comment.')
      return made.id
    },
    async update(place, id, text) {
      const answer = await ask(api.updateRequest(place, id, text), mostAnswerBytes)
      if (answer.status === 404 || answer.status === 410) return false
      refuse(answer)
      return true
    },
    async find(place, createdAt, isIt) {
      const since = new Date(Date.parse(createdAt) - clocksDifferMs).toISOString()
      for (let page = 1; page <= mostPages; page += 1) {
        const request = api.listRequest(place, { since, page })
        if (request === null) return null
        const listed = api.readList(jsonIn(await ask(request, mostListBytes)))
        if (listed === null) throw new Refused('The host answered with something else than comments.')
        const found = listed.find(isIt)
        if (found !== undefined) return found.id
        if (listed.length === 0) return null
      }
      return null
    },
  }
}

type Answer = Awaited<ReturnType<Context['outbound']['send']>>

function refuse({ status, headers, body }: Answer): void {
  if (status >= 200 && status < 300) return
  const hint = hints[status] ?? ''
  const text = body.toString().slice(0, 300).replace(/\s+/g, ' ')
  throw new Refused(
    `The host answered ${status}${hint}${text === '' ? '' : `: ${text}`}`,
    retryAfter(headers['retry-after']),
  )
}

const hints: Readonly<Record<number, string>> = {
  401: ' (is the token valid?)',
  403: ' (may the token write comments on pull requests?)',
  404: ' (may the token see the pull request?)',
}

function jsonIn(answer: Answer): unknown {
  refuse(answer)
  if (answer.isCut) throw new Refused('The answer of the host is too long.')
  try {
    return JSON.parse(answer.body.toString())
  } catch {
    throw new Refused('The answer of the host is not JSON.')
  }
}
