// Makes and updates the comment of a pipeline on a pull request. There is one, however often an answer of the host is lost: before a
// comment is made, it is looked for by its marker, and its id is stored as soon as it is known.
import type { Context } from '../../../../context.ts'
import { locate } from '../../../../source-hosts/settings.ts'
import type { CommentPlace } from '../../../../source-hosts/host.ts'
import { noToken, planNext, problemIn, type Problem } from '../attempt.ts'
import { listFailingLogs } from '../failing-lines.ts'
import { recordCommentProblem } from '../queries.ts'
import { connectTo, Refused, type CommentHost } from './host.ts'
import * as comments from './queries.ts'
import type { DueComment } from './queries.ts'
import { commentText, mostJobs, mostRows, type FailedJob } from './text.ts'

export async function reportComment(ctx: Context, comment: DueComment): Promise<void> {
  const problem = await problemIn(() => send(ctx, comment))
  const at = ctx.now()
  const failed = problem && planNext(comment, problem, at)
  const { organization_id: orgId, connection } = comment
  if (connection !== null)
    await recordCommentProblem(ctx.db, orgId, connection.id, failed?.message ?? null, at.toISOString())
  await comments.recordAttempt(ctx.db, comment, failed, at.toISOString())
}

async function send(ctx: Context, comment: DueComment): Promise<Problem | null> {
  const { connection, build_id: buildId, commit, state, address, number } = comment
  const repository = locate(comment.repository)?.path ?? ''
  const host = connection && repository !== '' ? await connectTo(ctx, connection, repository) : null
  if (host === null) return noToken
  // Of a deleted build nothing is known any more.
  if (buildId === null || commit === null) return null
  const url = `${ctx.config.url}/${address}/builds/${number}`
  const jobs = state === 'failed' ? await listFailedJobs(ctx, comment.organization_id, buildId) : []
  const textWith = (marker: string) => commentText({ state, address, number, commit, url }, jobs, marker)
  try {
    await write(ctx, host, { repository, pullRequest: comment.pull_request }, comment, textWith)
    return null
  } catch (error) {
    if (error instanceof Refused) return error
    throw error
  }
}

async function write(
  ctx: Context,
  host: CommentHost,
  place: CommentPlace,
  comment: DueComment,
  textWith: (marker: string) => string,
): Promise<void> {
  const { comment_id: stored, state, created_at: since } = comment
  let { marker } = comment
  if (stored !== null) {
    if (await host.update(place, stored, textWith(marker))) return
    // The list says whether the comment is deleted, or only kept from us.
    if (await host.find(place, since, ({ id }) => id === stored)) throw new Refused(unchanged)
    marker = await comments.recordDeleted(ctx.db, comment, ctx.now().toISOString())
  } else {
    const found = await host.find(place, since, ({ text }) => text.includes(marker))
    if (found !== null) {
      await comments.recordComment(ctx.db, comment, found)
      if (await host.update(place, found, textWith(marker))) return
      throw new Refused(unchanged)
    }
  }
  // That a build passed is only said where a comment says that one failed.
  if (state === 'passed') return
  await comments.recordComment(ctx.db, comment, await host.create(place, textWith(marker)))
}

const unchanged = 'The host lists the comment, but does not change it.'

async function listFailedJobs(ctx: Context, orgId: string, buildId: string): Promise<FailedJob[]> {
  const which = { stepId: null, mostJobs: mostJobs + 1, mostRows }
  const found = await listFailingLogs(ctx, orgId, buildId, which)
  return found.map(({ id, name, rows }) => ({ id, name, rows }))
}
