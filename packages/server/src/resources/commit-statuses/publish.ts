// Tells hosts what is due. Each status is claimed for a while and told outside any transaction; one that a dying
// process leaves behind is claimed again when its time is up.
import type { Context } from '../../context.ts'
import { OutboundError } from '../../lib/outbound.ts'
import { backoffMs } from '../../notifications/backoff.ts'
import { pump } from '../../tasks/pump.ts'
import { locate } from '../pipelines/provider.ts'
import { refusalIn, requestFor } from './hosts.ts'
import * as statuses from './queries.ts'
import type { DueStatus } from './queries.ts'

const mostAtOnce = 16
const givenUpMs = 24 * 60 * 60 * 1000
const longestWaitSeconds = 3600

/** One round: while there is something to tell. */
export const publishStatuses = (ctx: Context, stopping: AbortSignal): Promise<void> =>
  pump({
    most: mostAtOnce,
    stopping,
    claim: (room) => statuses.claimDue(ctx.db, ctx.now().toISOString(), room),
    work: (status) => tell(ctx, status),
    failed: (error) => ctx.log.error({ err: error }, 'A commit status could not be recorded.'),
  })

async function tell(ctx: Context, status: DueStatus): Promise<void> {
  const problem = await send(ctx, status)
  const at = ctx.now()
  const { connection_id: connection, organization_id: orgId } = status
  if (connection !== null) {
    await statuses.noteProblem(ctx.db, orgId, connection, problem?.message ?? null, at.toISOString())
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
  const { type, api_url: apiUrl, token_sealed: sealed, token_key_id: keyId } = status
  const path = locate(status.repository)?.path ?? ''
  if (
    type === null ||
    type === 'git' ||
    apiUrl === null ||
    sealed === null ||
    keyId === null ||
    path === ''
  ) {
    return { message: 'No connection with a token belongs to the repository.', waitSeconds: 0 }
  }
  const told = { ...status, repository: path, url: `${ctx.config.url}${status.build_path}` }
  const request = requestFor(type, apiUrl, ctx.keys.open(sealed, keyId), told)
  try {
    const answer = await ctx.outbound.send(request)
    const message = refusalIn(type, status.context, answer)
    return message === null ? null : { message, waitSeconds: retryAfter(answer.headers['retry-after']) }
  } catch (error) {
    if (error instanceof OutboundError) return { message: error.message, waitSeconds: 0 }
    throw error
  }
}

const retryAfter = (header: string | undefined): number =>
  /^\d{1,6}$/.test(header ?? '') ? Math.min(Number(header), longestWaitSeconds) : 0
