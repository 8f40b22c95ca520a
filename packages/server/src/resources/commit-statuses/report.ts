// Tells hosts what is due. Each status is claimed for a while and told outside any transaction; one that a dying
// process leaves behind is claimed again when its time is up.
import type { Context } from '../../context.ts'
import { OutboundError } from '../../lib/outbound.ts'
import { backoffMs } from '../../notifications/delivery/backoff.ts'
import { runConcurrently } from '../../tasks/run-concurrently.ts'
import { locate } from '../pipelines/provider.ts'
import { TokenRefused } from '../../source-hosts/host.ts'
import { hostOfType } from '../../source-hosts/hosts.ts'
import { requestTo } from '../../source-hosts/api.ts'
import * as statuses from './queries.ts'
import type { DueStatus } from './queries.ts'

const mostAtOnce = 16
const givenUpMs = 24 * 60 * 60 * 1000
const longestWaitSeconds = 3600

/** One round: while there is something to tell. */
export const publishStatuses = (ctx: Context, stopping: AbortSignal): Promise<void> =>
  runConcurrently({
    most: mostAtOnce,
    stopping,
    claim: (room) => statuses.claimDue(ctx.db, ctx.now().toISOString(), room),
    work: (status) => tell(ctx, status),
    failed: (error) => ctx.log.error({ err: error }, 'A commit status could not be recorded.'),
  })

async function tell(ctx: Context, status: DueStatus): Promise<void> {
  const problem = await send(ctx, status)
  const at = ctx.now()
  const { connection, organization_id: orgId } = status
  if (connection !== null) {
    await statuses.noteProblem(ctx.db, orgId, connection.id, problem?.message ?? null, at.toISOString())
  }
  if (problem === null) return statuses.recordDelivered(ctx.db, status, at.toISOString())
  const next = at.getTime() + Math.max(backoffMs(status.attempts + 1), problem.waitSeconds * 1000)
  const isOver = connection === null || next - Date.parse(status.changed_at) > givenUpMs
  const message = isOver ? `Given up: ${problem.message}` : problem.message
  return statuses.recordFailed(
    ctx.db,
    status,
    message,
    at.toISOString(),
    isOver ? null : new Date(next).toISOString(),
  )
}

interface Problem {
  message: string
  waitSeconds: number
}

async function send(ctx: Context, status: DueStatus): Promise<Problem | null> {
  const { connection } = status
  const repository = locate(status.repository)?.path ?? ''
  const host = connection && hostOfType(connection.type)
  if (connection === null || !host?.status || !host.token || repository === '') return noToken
  const reported = { ...status, repository, url: `${ctx.config.url}${status.build_path}` }
  const request = host.status.requestFor(reported)
  const permissions = request.permissions ?? {}
  try {
    const token = await host.token.find(ctx, connection, repository, permissions)
    if (token === null) return noToken
    const headers = host.token.apiHeaders(token)
    const answer = await ctx.outbound.send(requestTo(connection.api_url, headers, request))
    if (answer.status === 401) host.token.evict(ctx, connection, repository, permissions)
    const message = host.status.refusalIn(status.context, answer)
    return message === null ? null : { message, waitSeconds: retryAfter(answer.headers['retry-after']) }
  } catch (error) {
    if (error instanceof OutboundError) return { message: error.message, waitSeconds: 0 }
    if (error instanceof TokenRefused) return { message: error.message, waitSeconds: error.waitSeconds }
    throw error
  }
}

const noToken: Problem = {
  message: 'No connection with a token belongs to the repository.',
  waitSeconds: 0,
}

const retryAfter = (header: string | undefined): number =>
  /^\d{1,6}$/.test(header ?? '') ? Math.min(Number(header), longestWaitSeconds) : 0
