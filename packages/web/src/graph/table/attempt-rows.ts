import type { JobTable } from '../jobs/job-table.ts'
import type { Job } from '../jobs/job.ts'
import { toJobRow, type JobRow } from '../rows/use-job-rows.ts'

/** The row of a job, then those of its earlier attempts, the newest first. */
export const attemptRows = (table: JobTable, newest: Job): JobRow[] => [
  toJobRow(newest),
  ...table
    .attemptsOf(newest.id)
    .slice(0, -1)
    .toReversed()
    .map((job) => ({ key: earlierKey(job), job })),
]

/** Where the attempt is in the list. */
export function attemptKey(table: JobTable, jobId: string): string | null {
  const job = table.job(jobId)
  if (job === undefined) return null
  return table.newestOf(jobId) === job ? toJobRow(job).key : earlierKey(job)
}

const earlierKey = ({ id }: Job) => `attempt ${id}`
