import { useEffect, useRef } from 'react'
import type { JobTable } from '../../graph/jobs/job-table.ts'
import type { Selection } from './selection.ts'

/** A failed build opens with its first failed job. A phone shows one or the other, so there the list comes first. */
export function useFirstFailure(table: JobTable, { job, select }: Selection, isPhone: boolean): void {
  const isDone = useRef(false)
  useEffect(() => {
    if (isDone.current) return
    isDone.current = true
    const [first] = table.groups().jobs.failed
    if (job === null && first !== undefined && !isPhone) select(first.id, { isQuiet: true })
  }, [table, job, select, isPhone])
}
