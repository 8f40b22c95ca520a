// Reports commit statuses and comments to source hosts. The rows of `commit_statuses` and `failure_comments` say what is due; a task
// per pipeline sends it. Each is leased and sent outside of a transaction. When a process dies, its leases end and a cron task enqueues again.
import type { Context } from '../../../context.ts'
import type { Db } from '../../../db/pool.ts'
import type { OutboundResponse } from '../../../lib/outbound.ts'
import { requestTo } from '../../../source-hosts/api.ts'
import type { ApiRequest, StatusApi } from '../../../source-hosts/host.ts'
import { externalIdOf, type ReportedStatus } from '../../../source-hosts/status.ts'
import { hostOfType } from '../../../source-hosts/hosts.ts'
import { enqueue, enqueueAll } from '../../../tasks/enqueue.ts'
import type { Kinds } from '../../../tasks/kinds.ts'
import { eachRowApart } from '../../../db/each-row.ts'
import { locate } from '../../../source-hosts/settings.ts'
import { noToken, planNext, problemIn, retryAfter, type Problem } from './attempt.ts'
import { claimDueComment, findNextComment } from './comments/queries.ts'
import { reportComment } from './comments/report.ts'
import { withFailingLines } from './failing-lines.ts'
import * as statuses from './queries.ts'
import type { DueStatus } from './queries.ts'

const mostAnswerBytes = 256 * 1024

export const enqueueReports = (db: Db, pipelineIds: readonly string[]): Promise<void> =>
  enqueueAll(
    db,
    'report_commit_statuses',
    pipelineIds.map((id) => ({ payload: { pipeline_id: id }, key: id })),
  )

export async function enqueueOverdueReports(ctx: Context): Promise<void> {
  await enqueueReports(ctx.db, await statuses.listPipelinesWithDue(ctx.db, ctx.now().toISOString()))
}

/** Reports a few statuses, or a comment, and enqueues the next task, so that no task takes long. Returns how many it reported. */
export async function reportStatuses(
  ctx: Context,
  { pipeline_id: pipelineId }: Kinds['report_commit_statuses'],
): Promise<number> {
  const now = ctx.now().toISOString()
  const due = await statuses.claimDue(ctx.db, pipelineId, now)
  const comment = await claimDueComment(ctx.db, pipelineId, now)
  // Otherwise another task reports them, and enqueues the next one itself.
  if (due.length === 0 && comment === undefined) return 0
  await Promise.all([
    ...due.map((status) => apart(ctx, status, (one) => report(ctx, one))),
    ...(comment === undefined ? [] : [apart(ctx, comment, (one) => reportComment(ctx, one))]),
  ])
  const end = ctx.now().toISOString()
  const times = [
    await statuses.findNextAttempt(ctx.db, pipelineId, end),
    await findNextComment(ctx.db, pipelineId, end),
  ]
  const [next] = times.flatMap((time) => time ?? []).toSorted()
  if (next !== undefined) {
    // With another key than the task of a new state, whose time it must not replace.
    const options = { key: `${pipelineId} again`, runAt: next }
    await enqueue(ctx.db, 'report_commit_statuses', { pipeline_id: pipelineId }, options)
  }
  return due.length + (comment === undefined ? 0 : 1)
}

const apart = <Row extends { id: string }>(ctx: Context, due: Row, work: (row: Row) => Promise<unknown>) =>
  eachRowApart(ctx, 'status_reports', [due], ({ id }) => id, work)

async function report(ctx: Context, status: DueStatus): Promise<void> {
  const problem = await send(ctx, status)
  const at = ctx.now()
  const { connection, organization_id: orgId } = status
  if (connection !== null) {
    await statuses.recordProblem(ctx.db, orgId, connection.id, problem?.message ?? null, at.toISOString())
  }
  if (problem === null) return statuses.recordDelivered(ctx.db, status, at.toISOString())
  const { message, next } = planNext(status, problem, at)
  return statuses.recordFailed(ctx.db, status, message, at.toISOString(), next)
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
  const { token: hostToken, status: api } = host
  return problemIn(async () => {
    const token = await hostToken.find(ctx, connection, repository, permissions)
    if (token === null) return noToken
    const headers = hostToken.apiHeaders(token)
    const ask = (one: ApiRequest) =>
      ctx.outbound.send({ ...requestTo(connection.api_url, headers, one), keptBytes: mostAnswerBytes })
    const answer = await ask(request)
    if (answer.status === 401) hostToken.evict(ctx, connection, repository, permissions)
    return problemOf(api, status, answer) ?? (await sendToPulls(api, status, { ...reported, output }, ask))
  })
}

const problemOf = (api: StatusApi, { context }: DueStatus, answer: OutboundResponse): Problem | null => {
  const message = api.refusalIn(context, answer)
  return message === null ? null : { message, waitSeconds: retryAfter(answer.headers['retry-after']) }
}

/** Null: they have it, or have no statuses of their own. One that is gone, or has not got the commit, needs none. */
async function sendToPulls(
  api: StatusApi,
  status: DueStatus,
  reported: ReportedStatus,
  ask: (request: ApiRequest) => Promise<OutboundResponse>,
): Promise<Problem | null> {
  const { ofPulls } = api
  if (ofPulls === undefined) return null
  for (const pullRequest of status.pull_requests) {
    const place = { repository: reported.repository, pullRequest }
    const listed = await ask(ofPulls.iterationsRequest(place))
    if (listed.status === 404) continue
    const refused = problemOf(api, status, listed)
    if (refused !== null) return refused
    const iteration = ofPulls.findIteration(parsed(listed), status.commit)
    if (iteration === null) continue
    const problem = problemOf(api, status, await ask(ofPulls.requestFor(reported, place, iteration)))
    if (problem !== null) return problem
  }
  return null
}

function parsed({ body, isCut }: OutboundResponse): unknown {
  try {
    return isCut ? null : JSON.parse(body.toString())
  } catch {
    return null
  }
}
