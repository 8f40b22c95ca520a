// Which jobs a table shows, and in which order.
import { BUCKETS } from './buckets.ts'
import { durationMs, waitMs, type Job } from './job.ts'

const SORT_COLUMNS = ['state', 'name', 'duration', 'wait', 'agent'] as const
export type SortColumn = (typeof SORT_COLUMNS)[number]

export interface JobSort {
  column: SortColumn
  isDescending: boolean
}

/** One object for each order, so that views can tell whether the order changed. */
const SORTS: readonly JobSort[] = SORT_COLUMNS.flatMap((column) => [
  { column, isDescending: false },
  { column, isDescending: true },
])

export const failedFirst: JobSort = { column: 'state', isDescending: false }

/** `-duration` in an address: longest first. */
export const parseSort = (text: string | undefined): JobSort =>
  SORTS.find((sort) => formatSort(sort) === text) ?? failedFirst

export const formatSort = ({ column, isDescending }: JobSort): string => `${isDescending ? '-' : ''}${column}`

type Attempts = (jobId: string) => readonly Job[]

export const attemptsIn =
  (table: { attemptsOf: Attempts }): Attempts =>
  (jobId) =>
    table.attemptsOf(jobId)

/** Jobs with an attempt in whose name, state, agent or note every word occurs. */
export function filterJobs(jobs: readonly Job[], filter: string, attemptsOf: Attempts): readonly Job[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return jobs
  const matches = ({ name, look, agent, note }: Job) => {
    const text = `${name}\n${look.label}\n${agent ?? ''}\n${note ?? ''}`.toLowerCase()
    return words.every((word) => text.includes(word))
  }
  return jobs.filter((job) => attemptsOf(job.id).some(matches))
}

/** Jobs that are equal keep the order of the pipeline. Jobs without a value come last either way. */
export function sortJobs(
  jobs: readonly Job[],
  { column, isDescending }: JobSort,
  nowMs: number,
): readonly Job[] {
  if (column === 'state') {
    const order = isDescending ? BUCKETS.toReversed() : BUCKETS
    return order.flatMap((bucket) => jobs.filter((job) => job.bucket === bucket))
  }
  const sign = isDescending ? -1 : 1
  if (column === 'duration' || column === 'wait') {
    const valueOf = column === 'duration' ? durationMs : waitMs
    const values = new Map(jobs.map((job) => [job, valueOf(job, nowMs)]))
    return jobs.toSorted((a, b) => {
      const [left, right] = [values.get(a) ?? null, values.get(b) ?? null]
      if (left === null || right === null) return (left === null ? 1 : 0) - (right === null ? 1 : 0)
      return sign * (left - right)
    })
  }
  const textOf = (job: Job) => (column === 'name' ? job.name : (job.agent ?? ''))
  return jobs.toSorted((a, b) => {
    const [left, right] = [textOf(a), textOf(b)]
    if (left === '' || right === '') return (left === '' ? 1 : 0) - (right === '' ? 1 : 0)
    return sign * collator.compare(left, right)
  })
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })
