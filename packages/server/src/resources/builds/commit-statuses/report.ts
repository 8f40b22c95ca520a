// Reports commit statuses to source hosts. The rows of `commit_statuses` say what is due; a task per pipeline sends it. Each
// status is leased and sent outside of a transaction. When a process dies, its leases end and a cron task enqueues again.
import type { Context } from '../../../context.ts'
import type { Db } from '../../../db/pool.ts'
import { OutboundError } from '../../../lib/outbound.ts'
import { backoffMs } from '../../../notifications/delivery/backoff.ts'
import { requestTo } from '../../../source-hosts/api.ts'
import { TokenRefused } from '../../../source-hosts/host.ts'
import { externalIdOf } from '../../../source-hosts/status.ts'
import { hostOfType } from '../../../source-hosts/hosts.ts'
import { enqueue, enqueueAll } from '../../../tasks/enqueue.ts'
import type { Kinds } from '../../../tasks/kinds.ts'
import { eachRowApart } from '../../../db/each-row.ts'
import { locate } from '../../../source-hosts/settings.ts'
import { withFailingLines } from './failing-lines.ts'
import * as statuses from './queries.ts'
import type { DueStatus } from './queries.ts'

const givenUpMs = 24 * 60 * 60 * 1000
const longestWaitSeconds = 3600

export const enqueueReports = (db: Db, pipelineIds: readonly string[]): Promise<void> =>
  enqueueAll(
    db,
    'report_commit_statuses',
    pipelineIds.map((id) => ({ payload: { pipeline_id: id }, key: id })),
  )

export async function enqueueOverdueReports(ctx: Context): Promise<void> {
  await enqueueReports(ctx.db, await statuses.listPipelinesWithDue(ctx.db, ctx.now().toISOString()))
}

/** Reports a few statuses and enqueues the next task, so that no task takes long. Returns how many it reported. */
export async function reportStatuses(
  ctx: Context,
  { pipeline_id: pipelineId }: Kinds['report_commit_statuses'],
): Promise<number> {
  const due = await statuses.claimDue(ctx.db, pipelineId, ctx.now().toISOString())
  // Otherwise another task reports them, and enqueues the next one itself.
  if (due.length === 0) return 0
  await Promise.all(
    due.map((status) =>
      eachRowApart(
        ctx,
        'status_reports',
        [status],
        ({ id }) => id,
        (one) => report(ctx, one),
      ),
    ),
  )
  const next = await statuses.findNextAttempt(ctx.db, pipelineId, ctx.now().toISOString())
  if (next !== null) {
    // With another key than the task of a new state, whose time it must not replace.
    const options = { key: `${pipelineId} again`, runAt: next }
    await enqueue(ctx.db, 'report_commit_statuses', { pipeline_id: pipelineId }, options)
  }
  return due.length
}

async function report(ctx: Context, status: DueStatus): Promise<void> {
  const problem = await send(ctx, status)
  const at = ctx.now()
  const { connection, organization_id: orgId } = status
  if (connection !== null) {
    await statuses.recordProblem(ctx.db, orgId, connection.id, problem?.message ?? null, at.toISOString())
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
  const reported = {
    ...status,
    repository,
    url: `${ctx.config.url}${status.path}`,
    externalId: status.build_id && externalIdOf(status.pipeline_id, status.build_id),
  }
  const output = await withFailingLines(ctx, status)
  const request = host.status.requestFor({ ...reported, output })
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
