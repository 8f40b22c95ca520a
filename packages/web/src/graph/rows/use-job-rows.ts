import { useCallback, useLayoutEffect, useMemo, useRef } from 'react'
import type { Row } from '../../parts/rows/frozen-order.ts'
import type { JobTable } from '../jobs/job-table.ts'
import type { Job } from '../jobs/job.ts'
import type { RowWindow } from './use-row-window.ts'

/** When rows above the selected one come or go, the list scrolls by as much, so that it stays where it is. */
export function useSelectionInPlace(rows: readonly Row[], selected: string | null, window: RowWindow): void {
  const at = useMemo(
    () => (selected === null ? -1 : rows.findIndex(({ key }) => key === selected)),
    [rows, selected],
  )
  const before = useRef({ selected, at })
  const { scroller, rowHeight } = window
  useLayoutEffect(() => {
    const last = before.current
    before.current = { selected, at }
    if (scroller === null || last.selected !== selected || last.at === -1 || at === -1) return
    const height = rowHeight()
    const isInView =
      last.at * height >= scroller.scrollTop - height &&
      last.at * height <= scroller.scrollTop + scroller.clientHeight
    if (isInView && at !== last.at) scroller.scrollBy({ top: (at - last.at) * height })
  })
}

export interface JobRow extends Row {
  job: Job
}

/** Attempts of a job share a row. */
export const toJobRow = (job: Job): JobRow => ({ key: job.firstAttemptId, job })

/** For rows that left a list. */
export function useNewestJob(table: JobTable): (row: JobRow) => JobRow {
  return useCallback((row) => ({ ...row, job: table.newestOf(row.key) ?? row.job }), [table])
}
