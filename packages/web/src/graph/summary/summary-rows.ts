// The rows of a build's summary: a heading per group, under it the jobs of the groups that are open.
import { BUCKETS, type Bucket } from '../jobs/buckets.ts'
import type { JobGroups } from '../jobs/job-groups.ts'
import type { Job } from '../jobs/job.ts'

export type SummaryRow =
  | { key: string; kind: 'group'; bucket: Bucket; count: number; isOpen: boolean }
  | { key: string; kind: 'job'; job: Job }

const OPEN_AT_FIRST: ReadonlySet<Bucket> = new Set<Bucket>(['failed', 'soft', 'blocked', 'running'])

/** `toggled` are the groups that the reader opened or closed. If nothing urgent is there, the first group is open. */
export function summaryRows({ jobs, counts }: JobGroups, toggled: ReadonlySet<Bucket>): SummaryRow[] {
  const present = BUCKETS.filter((bucket) => counts[bucket] > 0)
  const hasUrgent = present.some((bucket) => OPEN_AT_FIRST.has(bucket))
  return present.flatMap((bucket, at): SummaryRow[] => {
    const isOpenAtFirst = OPEN_AT_FIRST.has(bucket) || (!hasUrgent && at === 0)
    const isOpen = toggled.has(bucket) ? !isOpenAtFirst : isOpenAtFirst
    const heading: SummaryRow = {
      key: `group ${bucket}`,
      kind: 'group',
      bucket,
      count: counts[bucket],
      isOpen,
    }
    const rows = isOpen
      ? jobs[bucket].map((job): SummaryRow => ({ key: job.firstAttemptId, kind: 'job', job }))
      : []
    return [heading, ...rows]
  })
}
