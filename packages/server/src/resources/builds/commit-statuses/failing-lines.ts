// The failing lines of a build, for comments, and at their places in the sources for checks.
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
  const jobs = await listFailingLogs(ctx, orgId, buildId, { stepId, mostJobs, mostRows })
  return annotationsOf(
    jobs.map(({ name, rows, failing }) => ({ job: name, rows, failing })),
    address,
  )
}

interface FailingLog {
  id: string
  name: string
  /** None where the log cannot be shown. */
  rows: string[]
  /** The row that shows why the job failed. */
  failing: string | null
}

export async function listFailingLogs(
  ctx: Context,
  orgId: string,
  buildId: string,
  which: { stepId: string | null; mostJobs: number; mostRows: number },
): Promise<FailingLog[]> {
  const jobs = await listFailingJobs(ctx.db, orgId, buildId, { stepId: which.stepId, limit: which.mostJobs })
  const ids = jobs.map(({ id }) => id)
  const work = { kind: 'background', organizationId: orgId, sender: buildId, until: null } as const
  const logs = await findFailingRows(ctx, orgId, ids, which.mostRows, work).catch((error: unknown) => {
    // What is told without lines is better than nothing.
    if (error instanceof ApiError) return null
    throw error
  })
  return jobs.map((job) => {
    const log = logs?.get(job.id)
    if (log?.status !== 'shown') return { ...job, rows: [], failing: null }
    const { rows, failing_row: row } = log.excerpt
    const failing = rows.find((one) => row !== null && one.row === row)?.text ?? null
    return { ...job, rows: rows.map(({ text }) => text), failing }
  })
}
