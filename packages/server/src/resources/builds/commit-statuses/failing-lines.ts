// The failing lines of a build, at their places in the sources, for its checks.
import type { Context } from '../../../context.ts'
import { ApiError } from '../../../lib/errors.ts'
import { checkNameOf, type CheckOutput } from '../../../source-hosts/status.ts'
import { findFailingRows } from '../failure_summary/logs.ts'
import { annotationsOf, type LineAnnotation } from './annotations.ts'
import type { DueStatus } from './queries.ts'
import { listFailingJobs } from './queries.ts'

const mostJobs = 20
const mostRows = 40

/** With annotations after those that `notify` has. They are read when the check is sent, so a log may have grown since. */
export async function withFailingLines(ctx: Context, status: DueStatus): Promise<CheckOutput> {
  const { output = {}, build_id: buildId, state, context } = status
  if (buildId === null || state !== 'failure' || checkNameOf(context) === null) return output
  const lines = await findFailingLines(ctx, status, buildId)
  const own: unknown[] = Array.isArray(output.annotations) ? output.annotations : []
  return lines.length === 0 ? output : { ...output, annotations: [...own, ...lines] }
}

async function findFailingLines(
  ctx: Context,
  { organization_id: orgId, output, address }: DueStatus,
  buildId: string,
): Promise<LineAnnotation[]> {
  const stepId = typeof output?.step_id === 'string' ? output.step_id : null
  const jobs = await listFailingJobs(ctx.db, orgId, buildId, { stepId, limit: mostJobs })
  const ids = jobs.map(({ id }) => id)
  const work = { kind: 'background', organizationId: orgId, sender: buildId, until: null } as const
  const logs = await findFailingRows(ctx, orgId, ids, mostRows, work).catch((error: unknown) => {
    // The check matters more than its annotations.
    if (error instanceof ApiError) return null
    throw error
  })
  const found = jobs.flatMap(({ id, name }) => {
    const log = logs?.get(id)
    if (log?.status !== 'shown') return []
    const { rows, failing_row: row } = log.excerpt
    const failing = rows.find((one) => row !== null && one.row === row)?.text ?? null
    return [{ job: name, rows: rows.map(({ text }) => text), failing }]
  })
  return annotationsOf(found, address)
}
